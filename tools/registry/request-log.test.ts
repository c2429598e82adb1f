import { expect, it } from 'vitest';
import { readRequests } from './request-log.ts';

it('the log contains each request, its status and the bytes sent; other lines are ignored', () => {
  const log = [
    '{"level":"info","msg":"listening on 127.0.0.1:25055, tls","version":"2.8.2+ds1"}',
    '{"http.request.method":"GET","http.request.uri":"/v2/","level":"warning","msg":"error authorizing context: basic authentication challenge"}',
    '{"http.request.method":"GET","http.request.uri":"/v2/a/b/manifests/x","http.response.status":404,"http.response.written":91,"level":"error","msg":"response completed with error"}',
    '{"http.request.method":"GET","http.request.uri":"/v2/a/b/blobs/y","http.response.status":200,"http.response.written":104857600,"level":"info","msg":"response completed"}',
    '2026/11/16 10:31:44 http: TLS handshake error from 127.0.0.1:40778: remote error: tls: unknown certificate authority',
    '{"http.request.method":"GET","http.request.uri":"/v2/cut off","http.response.sta',
  ].join('\n');
  expect(readRequests(log)).toEqual([
    { method: 'GET', uri: '/v2/a/b/manifests/x', status: 404, bytes: 91 },
    { method: 'GET', uri: '/v2/a/b/blobs/y', status: 200, bytes: 104_857_600 },
  ]);
});
