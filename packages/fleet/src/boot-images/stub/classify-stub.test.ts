import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { additions, authorities, installer22, installer3, managedStub } from '../testing/stubs.ts';
import { classifyStub, STUB_LIMITS } from './classify-stub.ts';

const classify = (stub: unknown, ours: string | null = null) => classifyStub(JSON.stringify(stub), ours);
const SOURCE = 'https://api-int.demo.example.com:22623/config/worker';
const merging = (...merge: object[]) => ({ ignition: { version: '3.2.0', config: { merge } } });

describe('the installer’s stub is known', () => {
  it.each([
    ['in spec 2.2', installer22(), 'worker'],
    ['in spec 2.2, of masters', installer22('master'), 'master'],
    ['in spec 3.1', installer3('3.1.0'), 'worker'],
    ['in spec 3.2', installer3(), 'worker'],
    ['with a virtual address', installer3('3.2.0', 'worker', 'https://192.168.111.5:22623'), 'worker'],
    ['with an IPv6 address', installer3('3.2.0', 'worker', 'https://[fd2e:6f44:5dd8::5]:22623'), 'worker'],
    ['of a pool of one’s own', installer3('3.2.0', 'infra-gpu'), 'infra-gpu'],
    ['without a CA', merging({ source: SOURCE }), 'worker'],
    [
      'with an authorization header',
      merging({ source: SOURCE, httpHeaders: [{ name: 'Authorization', value: 'Bearer x' }] }),
      'worker',
    ],
  ])('%s', (_, stub, role) => {
    expect(classify(stub)).toMatchObject({ type: 'plain', role });
  });

  it('from the managed one', () => {
    expect(classify(managedStub())).toMatchObject({ type: 'managed', role: 'worker' });
    expect(classify(managedStub('infra', undefined, null))).toMatchObject({ type: 'managed', role: 'infra' });
  });
});

describe('anything else in a stub makes it customised', () => {
  const { ignition } = installer3();
  const tls = (...sources: object[]) => ({ ...ignition, security: { tls: { certificateAuthorities: sources } } });
  it.each([
    ['a user', { ignition, passwd: additions.passwd }],
    ['a file', { ignition, storage: additions.storage }],
    ['a unit', { ignition, systemd: additions.systemd }],
    ['kernel arguments', { ignition: { ...ignition, version: '3.3.0' }, kernelArguments: { shouldExist: ['quiet'] } }],
    ['a proxy', { ignition: { ...ignition, proxy: { httpsProxy: 'http://proxy:3128' } } }],
    ['timeouts', { ignition: { ...ignition, timeouts: { httpTotal: 0 } } }],
    ['another config', merging({ source: SOURCE }, { source: 'https://files.example.com/more.ign' })],
    ['another header', merging({ source: SOURCE, httpHeaders: [{ name: 'X-Site', value: 'a' }] })],
    ['a hash', merging({ source: SOURCE, verification: { hash: `sha256-${'a'.repeat(64)}` } })],
    ['a query for the server', merging({ source: `${SOURCE}?site=a` })],
    ['a second CA', { ignition: tls({ source: authorities.installer }, { source: authorities.example }) }],
    ['a CA from afar', { ignition: tls({ source: 'https://files.example.com/ca.pem' }) }],
    [
      'a spec 2 file',
      { ...installer22(), storage: { files: [{ filesystem: 'root', path: '/a', contents: { source: 'data:,x' } }] } },
    ],
  ])('%s', (_, stub) => {
    expect(classify(stub)).toMatchObject({ type: 'customised', role: 'worker' });
  });
});

describe('an unusable stub has a reason', () => {
  it.each([
    ['nothing', '', /is empty/],
    ['a script', '#!/bin/sh\ncurl -H "token: hunter2"', /not valid JSON/],
    ['PowerShell', '<powershell>$p = "hunter2"</powershell>', /not valid JSON/],
    ['cloud-config', '#cloud-config\npassword: hunter2', /not valid JSON/],
    ['a list', '["hunter2"]', /expected an object/],
    ['no version', '{"ignition":{}}', /ignition\.version: the spec version is missing/],
    ['an unknown version', '{"ignition":{"version":"4.0.0"}}', /"4\.0\.0" is not supported/],
    ['an experimental one', '{"ignition":{"version":"3.7.0-experimental"}}', /not supported/],
    ['spec 1', '{"ignitionVersion":1}', /version is missing/],
    ['a key twice', '{"ignition":{"version":"3.2.0"},"ignition":{"version":"3.2.0"}}', /is duplicated/],
    ['a wrong type', '{"ignition":{"version":"3.2.0"},"passwd":{"users":[{"name":"a","uid":"hunter2"}]}}', /passwd/],
    ['a broken rule', JSON.stringify({ ...installer3(), storage: { files: [{ path: 'hunter2' }] } }), /relative/],
    ['no server', JSON.stringify(merging({ source: 'https://files.example.com/hunter2.ign' })), /found none/],
    ['a whole config', '{"ignition":{"version":"3.2.0"},"storage":{}}', /found none/],
    ['http', JSON.stringify(merging({ source: 'http://a:22623/config/worker' })), /found none/],
    [
      'a password in the address',
      JSON.stringify(merging({ source: 'https://a:hunter2@b:22623/config/worker' })),
      /found none/,
    ],
    ['another port', JSON.stringify(merging({ source: 'https://files.example.com/config/worker' })), /found none/],
    ['an invalid pool name', JSON.stringify(merging({ source: 'https://a:22623/config/..%2Fx' })), /found none/],
    [
      'two servers',
      JSON.stringify(merging({ source: SOURCE }, { source: 'https://b:22623/config/infra' })),
      /found several/,
    ],
    [
      'a replacement',
      JSON.stringify({ ignition: { version: '3.2.0', config: { replace: { source: SOURCE } } } }),
      /replace/,
    ],
    ['too much', JSON.stringify({ ...installer3(), x: 'y'.repeat(STUB_LIMITS.size) }), /at most/],
    ['too deep', `{"ignition":{"version":"3.2.0"},"a":${'['.repeat(60)}${']'.repeat(60)}}`, /deeper/],
    ['too many', `{"ignition":{"version":"3.2.0"},"a":[${'1,'.repeat(30_000)}1]}`, /more than/],
  ])('%s', (_, text, reason) => {
    const found = classifyStub(text);
    expect(found).toMatchObject({ type: 'unusable', reason: expect.stringMatching(reason) });
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  it('never more than that, for any input', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(classifyStub(text).type).toBe('unusable');
      }),
    );
  });
});

describe('our server on another port', () => {
  const stub = installer3('3.2.0', 'worker', 'https://boot.example.com');
  it('is known by the managed stub', () => {
    expect(classify(stub)).toMatchObject({ type: 'unusable' });
    expect(classify(stub, 'https://boot.example.com')).toMatchObject({ type: 'plain', role: 'worker' });
    expect(classify(stub, 'https://other.example.com')).toMatchObject({ type: 'unusable' });
  });
});
