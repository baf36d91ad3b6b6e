// SQL sessions for rig through a Node library of promises: node node_shim.mjs LIBRARY   (duckdb, turso, pg, or a file)
//
// It speaks the protocol of rig's docs/sql-programs.md: any number of sessions, each with a chain of promises. The library must not
// block the event loop: one with synchronous calls (better-sqlite3, node:sqlite) would hold up all sessions while one waits for a
// lock. The table `libraries` has all that differs between libraries; LIBRARY can also be the path of a module of one's own, which
// exports such a `connect`. Packages are searched in the working folder, then in NODE_PATH.
//
// JavaScript's numbers have 53 bits: integers travel as texts and BigInt, and a library that gives numbers must be told not to.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

// Text that a library prints goes to the log, never between the answers: writes to descriptor 1 below are the answers.
console.log = console.info = console.debug = console.error;
process.stdout.write = process.stderr.write.bind(process.stderr);

const load = async (name) => import(pathToFileURL(createRequire(path.join(process.cwd(), "rig")).resolve(name)));

// connect({connection, user, password, autocommit, isolation}): a session, or an exception. A session has
//   run(sql, args)  {rows: [[cell]]} or {count}; args are texts, BigInts and null, undefined if there are none
//   commit(), rollback()  of a session without autocommit; absent where transactions are texts only
//   close()
//   error(e)  optional: {state, code} of an exception; isAlive() optional
const libraries = {
  async duckdb({ connection = ":memory:" }) { // @duckdb/node-api; texts BEGIN, COMMIT and ROLLBACK
    const { DuckDBInstance, ResultReturnType } = await load("@duckdb/node-api");
    const forget = (e) => { instances.delete(connection); throw e; };
    if (!instances.has(connection)) instances.set(connection, DuckDBInstance.create(connection).catch(forget)); // one for all sessions
    const link = await (await instances.get(connection)).connect();
    return {
      async run(sql, args = []) {
        const statement = await link.prepare(sql);
        try {
          args.forEach((value, i) => value === null ? statement.bindNull(i + 1) : typeof value === "bigint" ? statement.bindBigInt(i + 1, value) : statement.bindVarchar(i + 1, value));
          const result = await statement.runAndReadAll();
          return result.returnType === ResultReturnType.QUERY_RESULT ? { rows: result.getRows() } : { count: result.rowsChanged };
        } finally {
          statement.destroySync();
        }
      },
      close: () => link.closeSync(),
    };
  },
  async turso({ connection }) { // @tursodatabase/database; texts BEGIN, COMMIT and ROLLBACK
    const { connect } = await load("@tursodatabase/database");
    const link = await connect(connection);
    return {
      async run(sql, args = []) {
        const statement = await link.prepare(sql);
        statement.safeIntegers(true);
        if (statement.columns().length === 0) return { count: Number((await statement.run(...args)).changes) };
        return { rows: await statement.raw(true).all(...args) };
      },
      close: () => link.close(),
    };
  },
  async pg({ connection, user, password }) { // pg; texts BEGIN, COMMIT and ROLLBACK
    const { default: pg } = await load("pg");
    const link = new pg.Client({ connectionString: connection, user, password, types: { getTypeParser: () => (text) => text } });
    let alive = true;
    link.on("error", () => { alive = false; });
    await link.connect();
    return {
      async run(sql, args) {
        let count = 0;
        const text = args ? sql.replace(/'[^']*'|\?/g, (at) => at === "?" ? `$${++count}` : at) : sql;
        const result = await link.query({ text, values: args?.map((value) => value === null ? null : String(value)), rowMode: "array" });
        return result.fields.length > 0 ? { rows: result.rows } : { count: result.rowCount ?? -1 };
      },
      close: () => link.end(),
      error: (e) => ({ state: e.code ?? "", code: 0 }),
      isAlive: () => alive,
    };
  },
};
const instances = new Map();

function write(answer) {
  let line = Buffer.from(JSON.stringify(answer) + "\n");
  while (line.length > 0) {
    try {
      line = line.subarray(fs.writeSync(1, line));
    } catch (e) {
      if (e.code !== "EAGAIN") process.exit(1); // rig is gone
    }
  }
}

const cell = (value) => value === null || value === undefined ? null : String(value); // BigInts and decimals have every digit

class Session {
  last = Promise.resolve();
  ask(request) { // one request of a session after the other
    this.last = this.last.then(() => this.answer(request));
  }
  async answer(request) {
    const start = process.hrtime.bigint(); // CLOCK_MONOTONIC
    let answer;
    try {
      answer = await this.perform(request);
    } catch (e) {
      const known = this.link?.error?.(e) ?? {};
      answer = { error: { state: known.state ?? "", code: known.code ?? 0, text: String(e?.message ?? e) }, alive: this.link !== undefined && (this.link.isAlive?.() ?? true) };
    }
    write({ id: request.id, ...answer, start: Number(start), end: Number(process.hrtime.bigint()) });
  }
  async perform(request) {
    if (request.open) {
      if (this.link) throw new Error(`session ${request.session} is open`);
      const how = { ...request.open };
      for (const name of ["connection", "user", "password"]) how[name] ??= process.env["RIG_SQL_" + name.toUpperCase()];
      const link = await connect(how);
      const lacks = how.isolation ? `no call for isolation ${how.isolation}: let the dialect send a statement`
        : how.autocommit ? undefined : "no calls for transactions: it needs autocommit true, and BEGIN as a text";
      if (lacks && !link.commit) {
        await link.close();
        throw new Error(`${library} has ${lacks}`);
      }
      this.link = link;
      this.autocommit = how.autocommit;
      return { done: true, driver: library };
    }
    if (!this.link) throw new Error(`session ${request.session} is not open`);
    if (request.sql !== undefined) {
      const args = request.args?.map((value, i) => value !== null && request.types[i] === "i" ? BigInt(value) : value);
      const result = await this.link.run(request.sql, args);
      return result.rows ? { rows: result.rows.map((row) => row.map(cell)) } : { count: Number(result.count) };
    }
    if (request.close) {
      const link = this.link;
      this.link = undefined;
      if (!this.autocommit) await link.rollback();
      await link.close();
    } else if (request.commit || request.rollback) {
      if (this.autocommit) throw new Error("this session has autocommit: its transactions end by SQL texts");
      await (request.commit ? this.link.commit() : this.link.rollback());
    } else {
      throw new Error("a request is one of open, sql, commit, rollback, close");
    }
    return { done: true };
  }
}

const library = process.argv[2];
const connect = libraries[library] ?? (library && (await import(pathToFileURL(path.resolve(library)))).connect);
if (!connect) {
  write({ error: "usage: node_shim.mjs LIBRARY: duckdb, turso, pg, or the path of a module that exports connect" });
  process.exit(1);
}
const sessions = new Map();
let greeted = false;
readline.createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", (line) => {
  let request;
  try {
    request = JSON.parse(line);
    if (!greeted && request.role !== "sql") throw new Error('the first line is to have "role": "sql"');
    if (greeted && !(Number.isInteger(request.id) && Number.isInteger(request.session))) throw new Error("it has an id and a session");
  } catch (e) {
    process.stderr.write(`node_shim.mjs: not a request: ${e.message}\n`);
    process.exit(1);
  }
  if (!greeted) {
    greeted = true;
    write({ ready: true, version: `Node ${process.version}, ${library}` });
    return;
  }
  if (!sessions.has(request.session)) sessions.set(request.session, new Session());
  sessions.get(request.session).ask(request);
}).on("close", () => process.exit(0)); // at once: the database rolls back
