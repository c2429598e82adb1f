import { gunzipSync } from 'node:zlib';
import { parse, translate } from '@slipway/ignition';
import { makeSelfSigned } from '@slipway/testing/certificates';
import { until } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import {
  sendRequest,
  connectTo,
  machineConfig,
  namedBySpec,
  startTestServer,
  buildToken,
  tokenText,
} from './testing/test-server.ts';

const accept = (version: string) => ({ accept: `application/vnd.coreos.ignition+json;version=${version}, */*;q=0.1` });
const text = (reply: { body: Buffer }) => reply.body.toString();
const servedName = (reply: { body: Buffer }) => /rendered-worker-\w+/.exec(annotationsIn(reply.body))?.[0];
const first = machineConfig('a');
const second = machineConfig('b');

function annotationsIn(body: Buffer): string {
  const config = translate(parse(body).config ?? { ignition: { version: '3.5.0' } }, '3.5.0').config;
  const file = config?.storage?.files?.find(({ path }) => path.endsWith('/node-annotations.json'));
  return decodeURIComponent(file?.contents?.source ?? '');
}

describe('the machine config server', () => {
  it('sends a machine its config in the requested version', async () => {
    await using server = await startTestServer();
    const reply = await sendRequest(server.port, { headers: accept('3.3.0') });
    expect(reply).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' },
    });
    expect(Number(reply.headers['content-length'])).toBe(reply.body.length);
    expect(parse(reply.body).config?.ignition.version).toBe('3.3.0');
    expect(parse((await sendRequest(server.port)).body).config?.ignition.version).toBe('2.2.0');
  });

  it('sends the compressed form to a stub that requests it, as plain bytes', async () => {
    await using server = await startTestServer();
    const plain = await sendRequest(server.port, { headers: accept('3.5.0') });
    const packed = await sendRequest(server.port, {
      path: '/config/worker?compression=gzip',
      headers: accept('3.5.0'),
    });
    expect(packed.headers).toMatchObject({ 'content-type': 'application/gzip' });
    expect(packed.headers).not.toHaveProperty('content-encoding');
    expect(gunzipSync(packed.body)).toEqual(plain.body);
  });

  it('answers HEAD like GET, without the bytes', async () => {
    await using server = await startTestServer();
    const [get, head] = [await sendRequest(server.port), await sendRequest(server.port, { method: 'HEAD' })];
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect(head.body).toHaveLength(0);
  });

  it.each([
    ['another path', { path: '/' }, 404, {}, 'SLW_SERVER_PATH'],
    ['an unknown pool', { path: '/config/none' }, 401, { 'www-authenticate': 'Bearer' }, 'SLW_SERVER_TOKEN'],
    ['another method', { method: 'DELETE' }, 405, { allow: 'GET, HEAD' }, 'SLW_SERVER_METHOD'],
    ['a body', { method: 'GET', headers: { 'content-length': '5' } }, 413, {}, 'SLW_SERVER_REQUEST'],
    ['no token', { token: '' }, 401, { 'www-authenticate': 'Bearer' }, 'SLW_SERVER_TOKEN'],
    ['another version', { headers: accept('4.0.0') }, 400, {}, 'SLW_SERVER_VERSION'],
    [
      'a pool that is not rendered yet',
      { path: '/config/infra', token: tokenText('i') },
      503,
      { 'retry-after': '5' },
      'SLW_SERVER_NOT_RENDERED',
    ],
  ])('answers %s with a status a client understands, and a reason', async (_, what, status, headers, code) => {
    const pools = new Map([
      ['worker', first.metadata.name],
      ['infra', undefined],
    ]);
    const tokens = new Map([
      ['worker', [buildToken('t')]],
      ['infra', [buildToken('i')]],
    ]);
    await using server = await startTestServer({ inputs: { pools, tokens } });
    const reply = await sendRequest(server.port, what);
    expect(reply).toMatchObject({ status, headers: { ...headers, connection: 'close' } });
    expect(text(reply)).toContain(`[${code}]`);
  });

  it('names the field that an old client cannot read', async () => {
    await using server = await startTestServer();
    const config = { ignition: { version: '3.5.0' }, kernelArguments: { shouldExist: ['quiet'] } };
    await server.serve(namedBySpec({ config }));
    const reply = await sendRequest(server.port, { headers: accept('3.2.0') });
    expect(reply.status).toBe(400);
    expect(text(reply)).toContain('kernelArguments');
    expect((await sendRequest(server.port, { headers: accept('3.3.0') })).status).toBe(200);
  });

  it('reports its health without a token', async () => {
    await using server = await startTestServer();
    expect(await sendRequest(server.port, { path: '/healthz', token: '' })).toMatchObject({ status: 200 });
  });

  it('follows the tokens: two are valid at a time, an old one is not', async () => {
    await using server = await startTestServer();
    await server.change({ tokens: new Map([['worker', [buildToken('n'), buildToken('t')]]]) });
    expect((await sendRequest(server.port, { token: tokenText('n') })).status).toBe(200);
    expect((await sendRequest(server.port, { token: tokenText('t') })).status).toBe(200);
    await server.change({ tokens: new Map([['worker', [buildToken('n'), buildToken('t', '2026-01-01T00:00:00Z')]]]) });
    const reply = await sendRequest(server.port, { token: tokenText('t') });
    expect(reply.status).toBe(401);
    expect(text(reply)).toContain('has an expired one');
  });

  it('asks machines to retry while it may not know their token yet', async () => {
    await using server = await startTestServer();
    server.setBehind(true);
    expect((await sendRequest(server.port, { token: tokenText('n') })).status).toBe(503);
    expect((await sendRequest(server.port, { token: tokenText('t') })).status).toBe(200);
  });

  it('serves machines without a token if that is allowed', async () => {
    await using server = await startTestServer({ allowAnonymous: true });
    expect((await sendRequest(server.port, { token: '' })).status).toBe(200);
  });

  it('follows the pool, and the credentials of joining nodes', async () => {
    await using server = await startTestServer();
    expect(servedName(await sendRequest(server.port))).toBe(first.metadata.name);
    await server.serve(second);
    const before = await sendRequest(server.port);
    expect(servedName(before)).toBe(second.metadata.name);
    await server.change({ node: { kubeconfig: 'kind: Config # rotated\n', caBundle: 'CA\n' } });
    const after = await sendRequest(server.port);
    expect(servedName(after)).toBe(second.metadata.name);
    expect(after.body).not.toEqual(before.body);
    await server.change({ pools: new Map() });
    expect((await sendRequest(server.port)).status).toBe(404);
  });

  it('keeps serving the previous config while the new one cannot be prepared, then switches', async () => {
    await using server = await startTestServer();
    await server.change({ pools: new Map([['worker', second.metadata.name]]) });
    expect(servedName(await sendRequest(server.port))).toBe(first.metadata.name);
    expect(await server.metrics.registry.metrics()).toContain('slipway_server_outdated{pool="worker"} 1');
    server.machineConfigs.set(second.metadata.name, second);
    await until(async () => expect(servedName(await sendRequest(server.port))).toBe(second.metadata.name), 'process');
    expect(await server.metrics.registry.metrics()).toContain('slipway_server_outdated{pool="worker"} 0');
  });

  it.each([
    ['a bare piece', { metadata: { name: '99-worker-motd' }, spec: first.spec ?? {} }],
    ['another pool’s config', { metadata: { name: `rendered-master-${'0'.repeat(32)}` }, spec: first.spec ?? {} }],
    ['a rendered config that a client changed', { metadata: second.metadata, spec: { kernelArguments: ['quiet'] } }],
  ])('never serves %s', async (_, config) => {
    await using server = await startTestServer();
    await server.serve(config);
    expect(servedName(await sendRequest(server.port))).toBe(first.metadata.name);
    expect(server.lines.join()).toContain(
      `MachineConfig ${config.metadata.name} is not what was rendered for pool worker`,
    );
  });

  it('switches to a new certificate, and keeps the old one if the new one is broken', async () => {
    await using server = await startTestServer();
    const shown = async () => {
      const socket = await connectTo(server.port);
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return subject.CN;
    };
    const second = await makeSelfSigned('second');
    await server.change({ certificate: { cert: second.cert, key: (await makeSelfSigned('third')).key } });
    expect(await shown()).toBe('first');
    expect(server.server.ready().problems.join()).toContain('certificate');
    await server.change({ certificate: second });
    expect(await shown()).toBe('second');
    expect(server.server.ready()).toEqual({ ok: true, problems: [] });
  });

  it('logs and counts every fetch, and never a token', async () => {
    await using server = await startTestServer();
    const { body } = await sendRequest(server.port, {
      path: '/config/worker?compression=gzip&secret=query',
      headers: { ...accept('3.5.0'), 'user-agent': 'Ignition/2.24.0' },
    });
    await sendRequest(server.port, { token: tokenText('x') });
    await until(() => expect(server.lines.filter((line) => line.includes('"from"'))).toHaveLength(2), 'process');
    const [given, refused] = server.lines
      .filter((line) => line.includes('"from"'))
      .map((line): unknown => JSON.parse(line));
    expect(given).toMatchObject({
      from: '127.0.0.1',
      agent: 'Ignition/2.24.0',
      pool: 'worker',
      version: '3.5.0',
      form: 'gzip',
      access: 'token',
      rendered: first.metadata.name,
      status: 200,
      bytes: body.length,
      ms: expect.any(Number),
    });
    expect(refused).toMatchObject({ level: 'warn', pool: 'worker', status: 401, code: 'SLW_SERVER_TOKEN' });
    expect(server.lines.join()).not.toMatch(/tttt|xxxx|query/);
    const metrics = await server.metrics.registry.metrics();
    expect(metrics).toContain(
      'slipway_server_requests_total{pool="worker",status="200",version="3.5.0",form="gzip"} 1',
    );
    expect(metrics).toContain('slipway_server_requests_total{pool="worker",status="401",version="",form=""} 1');
    expect(metrics).toContain(`slipway_server_sent_bytes_total{pool="worker"} ${body.length}`);
  });

  it('does not create metric series for made-up names', async () => {
    await using server = await startTestServer();
    await sendRequest(server.port, { path: '/config/made-up' });
    expect(await server.metrics.registry.metrics()).not.toContain('made-up');
  });
});
