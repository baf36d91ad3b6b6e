// A strictly serializable store of lists behind HTTP/2, that runs what it is asked and then breaks its answers as only
// HTTP/2 can. With a key and a certificate it speaks TLS, else HTTP/2 without asking ("prior knowledge").
//
//     node http2_store.js SHARE [KEY CERTIFICATE]
//
// Its first line is its port; when its input ends it writes how often each fault came, and ends.
'use strict';
const fs = require('fs');
const http2 = require('http2');

const share = Number(process.argv[2]);
const secure = process.argv.length > 4;
const lists = new Map();
let seed = 12345;
const chance = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;

function txn(ops) {
  return ops.map(([kind, key, value]) => {
    if (kind !== 'append') return { value: lists.has(key) ? lists.get(key).slice() : null };
    lists.set(key, [...(lists.get(key) || []), value]);
    return { value: null };
  });
}

const head = { ':status': 200, 'content-type': 'application/json' };
const codes = http2.constants;
const later = (what) => setTimeout(what, 2);
const faults = {
  'reset, before an answer': (stream) => stream.close(codes.NGHTTP2_INTERNAL_ERROR),
  'refused, which libcurl likes to ask again': (stream) => stream.close(codes.NGHTTP2_REFUSED_STREAM),
  'cancelled': (stream) => stream.close(codes.NGHTTP2_CANCEL),
  'reset, within the body': (stream, text) => {
    stream.respond(head);
    stream.write(text.slice(0, text.length / 2));
    later(() => stream.close(codes.NGHTTP2_INTERNAL_ERROR));
  },
  'going away, after the answer': (stream, text) => {
    stream.respond(head);
    stream.end(text);
    stream.session.close();
  },
  'going away, as if it had not been seen': (stream) => {
    stream.session.goaway(codes.NGHTTP2_NO_ERROR, 0);
    later(() => stream.session && stream.session.destroy());
  },
  'the connection gone': (stream) => stream.session.destroy(),
  'the connection gone, within the body': (stream, text) => {
    stream.respond(head);
    stream.write(text.slice(0, text.length / 2));
    later(() => stream.session && stream.session.destroy());
  },
  'another length': (stream, text) => {
    stream.respond({ ...head, 'content-length': text.length + 7 });
    stream.end(text);
  },
  'promises first': (stream, text) => {
    stream.additionalHeaders({ ':status': 103, link: '</x>' });
    stream.respond(head);
    stream.end(text);
  },
  'trailers': (stream, text) => {
    stream.respond(head, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ x: 'y' }));
    stream.end(text);
  },
  'silence': () => {},
  'no status that is any': (stream, text) => {
    stream.respond({ ...head, ':status': 599 });
    stream.end(text);
  },
};
const counts = Object.fromEntries(Object.keys(faults).map((name) => [name, 0]));

function answer(stream, path, body) {
  if (path === '/clear') lists.clear();
  const text = JSON.stringify(path === '/txn' ? { done: true, results: txn(JSON.parse(body).ops) } : {});
  if (path === '/txn' && chance() < share) {
    const names = Object.keys(faults);
    const name = names[Math.floor(chance() * names.length)];
    counts[name]++;
    faults[name](stream, text);
  } else {
    stream.respond(head);
    stream.end(text);
  }
}

const server = secure
  ? http2.createSecureServer({ key: fs.readFileSync(process.argv[3]), cert: fs.readFileSync(process.argv[4]) })
  : http2.createServer();
server.on('session', (session) => session.on('error', () => {}));
server.on('stream', (stream, headers) => {
  let body = '';
  stream.on('error', () => {});
  stream.on('data', (chunk) => (body += chunk));
  stream.on('end', () => answer(stream, headers[':path'], body));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => {
  console.log(JSON.stringify(counts));
  process.exit(0);
});
process.stdin.resume();
