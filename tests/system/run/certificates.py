"""Certificates for tests of TLS, made by openssl."""

import subprocess


class Authority:
    """Files of certificates in a folder."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.openssl("req", "-x509", *self.new_key(name), "-out", f"{name}.pem", "-subj", f"/CN={name}", "-days", "2")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    @staticmethod
    def new_key(name):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key"

    def sign(self, name, alternative, days=2):
        """`name`.pem and `name`.key, for a server or a client of that alternative name. Negative days: it has expired."""
        extensions = self.folder / f"{name}.cnf"
        extensions.write_text(f"subjectAltName={alternative}\n")
        self.openssl("req", "-new", *self.new_key(name), "-out", f"{name}.csr", "-subj", f"/CN={name}")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.pem", "-CAkey", f"{self.name}.key",
                     "-CAcreateserial", "-out", f"{name}.pem", "-days", str(days), "-extfile", str(extensions))
