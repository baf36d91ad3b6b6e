"""A validator for the part of JSON Schema that the schemas of these tests use; an unknown word is an error."""

import re

TYPES = {"object": dict, "array": list, "string": str, "integer": int}
WORDS = {"$ref", "$comment", "definitions", "type", "required", "additionalProperties", "properties", "values", "items", "minItems",
         "uniqueItems", "enum", "pattern", "minimum"}


def problems(schema, value, root=None, at="$"):
    """What of `value` is not as the schema says, each with its place."""
    root = root or schema
    unknown = set(schema) - WORDS
    assert not unknown, f"the schema has {unknown}"
    found = []
    if "$ref" in schema:
        found += problems(root["definitions"][schema["$ref"].rpartition("/")[2]], value, root, at)
    kind = TYPES.get(schema.get("type"))
    if kind and (not isinstance(value, kind) or isinstance(value, bool)):
        return found + [f"{at}: is no {schema['type']}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is none of {schema['enum']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{at}: {value!r} is not like {schema['pattern']}")
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{at}: {value} is too small")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{at}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, member in value.items():
            if name in known:
                found += problems(known[name], member, root, f"{at}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{at}: {name} is unknown")
            elif "values" in schema:
                found += problems(schema["values"], member, root, f"{at}.{name}")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{at}: has too few elements")
        if schema.get("uniqueItems") and any(value[i] in value[:i] for i in range(len(value))):
            found.append(f"{at}: has an element twice")
        for i, element in enumerate(value):
            found += problems(schema.get("items", {}), element, root, f"{at}[{i}]")
    return found
