import { hasErrors, parse, validate } from '@slipway/ignition';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { additions, authorities, installer22, installer3, managedStub, OLD_TOKEN, TOKEN } from '../testing/stubs.ts';
import { STUB_LIMITS } from './classify-stub.ts';
import { managedCopy, serverOrigin } from './managed-copy.ts';

const managed = JSON.stringify(managedStub());
const [server] = managedStub().ignition.config.merge;

function makeCopy(stub: unknown, by = managed): Record<string, unknown> {
  const made = managedCopy(JSON.stringify(stub), by);
  expect(made).toMatchObject({ ok: true });
  const { config, report } = parse(made.ok ? made.text : '');
  expect(report).toEqual([]);
  expect(config !== null && hasErrors(validate(config))).toBe(false);
  return JSON.parse(made.ok ? made.text : '');
}

describe('a copy of a customised stub', () => {
  it('points to the current server, trusts its CA and keeps the additions', () => {
    expect(makeCopy({ ...installer3(), ...additions })).toEqual({
      ignition: {
        version: '3.2.0',
        config: { merge: [server] },
        security: { tls: { certificateAuthorities: [{ source: authorities.ours }] } },
      },
      ...additions,
    });
  });

  it('has spec 3 if the stub had spec 2', () => {
    const files = [
      { filesystem: 'root', path: '/etc/motd', mode: 420, contents: { source: 'data:,hello', verification: {} } },
    ];
    const users = [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'] }];
    const stub = { ...installer22(), storage: { files }, passwd: { users } };
    expect(makeCopy(stub)).toEqual({
      ignition: managedStub().ignition,
      passwd: { users },
      storage: { files: [{ path: '/etc/motd', mode: 420, overwrite: true, contents: { source: 'data:,hello' } }] },
    });
  });

  it.each([
    ['3.0.0', '3.1.0'],
    ['3.1.0', '3.1.0'],
    ['3.4.0', '3.4.0'],
    ['3.6.0', '3.6.0'],
  ])('of spec %s has spec %s', (version, expected) => {
    expect(makeCopy({ ...installer3(version), ...additions })).toMatchObject({ ignition: { version: expected } });
  });

  it('keeps other configs, in their order, and other headers', () => {
    const before = { source: 'https://files.example.com/first.ign' };
    const after = { source: 'https://files.example.com/last.ign', verification: { hash: `sha512-${'0'.repeat(128)}` } };
    const old = {
      source: 'https://api-int.demo.example.com:22623/config/worker',
      httpHeaders: [
        { name: 'X-Site', value: 'a' },
        { name: 'authorization', value: `Bearer ${OLD_TOKEN}` },
      ],
    };
    const copy = makeCopy({ ignition: { version: '3.2.0', config: { merge: [before, old, after] } } });
    const asked = { ...server, httpHeaders: [...(server?.httpHeaders ?? []), { name: 'X-Site', value: 'a' }] };
    expect(copy).toMatchObject({ ignition: { config: { merge: [before, asked, after] } } });
    expect(JSON.stringify(copy)).not.toContain(OLD_TOKEN);
  });

  it('has no authorization header if none is needed', () => {
    const open = JSON.stringify(managedStub('worker', undefined, null));
    const old = { ...managedStub('worker', undefined, OLD_TOKEN), ...additions };
    expect(JSON.stringify(makeCopy(old, open))).not.toContain('Authorization');
  });

  it.each([
    ['the installer’s is removed', [authorities.installer], [authorities.ours]],
    ['an earlier one of ours is removed', [authorities.ours], [authorities.ours]],
    ['a user’s stays', [authorities.example], [authorities.ours, authorities.example]],
    ['first or last', [authorities.example, authorities.installer], [authorities.ours, authorities.example]],
    ['a bundle with a user’s stays', [authorities.mixed], [authorities.ours, authorities.mixed]],
    ['an unreadable one stays', ['data:,hello'], [authorities.ours, 'data:,hello']],
    ['a remote one stays', ['https://a.example.com/ca.pem'], [authorities.ours, 'https://a.example.com/ca.pem']],
    ['none', [], [authorities.ours]],
  ])('of CAs: %s', (_, sources, expected) => {
    const { ignition } = installer3();
    const certificateAuthorities = sources.map((source) => ({ source }));
    const copy = makeCopy({ ignition: { ...ignition, security: { tls: { certificateAuthorities } } }, ...additions });
    expect(copy).toMatchObject({
      ignition: { security: { tls: { certificateAuthorities: expected.map((source) => ({ source })) } } },
    });
  });

  it('of a copy is the copy, and follows another CA and token', () => {
    const renewed = managedStub('worker', 'https://api-int.demo.example.com:22623', 'bmV3');
    const first = makeCopy({ ...installer22(), passwd: additions.passwd });
    expect(makeCopy(first)).toEqual(first);
    const next = makeCopy(first, JSON.stringify(renewed));
    expect(JSON.stringify(next)).not.toContain(TOKEN);
    expect(next).toEqual(makeCopy({ ...installer22(), passwd: additions.passwd }, JSON.stringify(renewed)));
  });
});

describe('a copy that is impossible has a reason, and reveals no secret', () => {
  const disks = [{ device: '/dev/sda', partitions: [{ number: 1, size: 2048 }] }];
  const withFile = (source: string) => ({
    ...installer3(),
    storage: { files: [{ path: '/a', contents: { source } }] },
  });
  const room = STUB_LIMITS.size - JSON.stringify(withFile('data:,')).length;
  it.each([
    [
      'what spec 3 cannot express',
      { ...installer22(), networkd: { units: [{ name: 'a.network', contents: 'hunter2' }] } },
      /networkd/,
    ],
    ['sizes in sectors', { ...installer22(), storage: { disks } }, /sectors/],
    [
      'a hash of the server’s answer',
      {
        ignition: {
          version: '3.2.0',
          config: {
            merge: [{ source: 'https://a:22623/config/worker', verification: { hash: `sha256-${'a'.repeat(64)}` } }],
          },
        },
      },
      /Remove the hash/,
    ],
    ['another pool', { ...installer3('3.2.0', 'infra'), ...additions }, /pool infra/],
    ['no stub at all', { ignition: { version: '3.2.0' } }, /found none/],
    ['too long', withFile(`data:,${'x'.repeat(room)}`), /would have/],
  ])('%s', (_, stub, reason) => {
    const made = managedCopy(JSON.stringify(stub), managed);
    expect(made).toMatchObject({ ok: false, reason: expect.stringMatching(reason) });
    expect(JSON.stringify(made)).not.toMatch(/hunter2|verysecret/);
    expect(JSON.stringify(made)).not.toContain(TOKEN);
  });

  it('of the managed stub', () => {
    const made = managedCopy(JSON.stringify({ ...installer3(), ...additions }), '{}');
    expect(made).toMatchObject({ ok: false, reason: expect.stringMatching(/managed stub is unusable/) });
    expect(serverOrigin('{}')).toBeNull();
  });
});

describe('laws', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,12}$/);
  const text = fc
    .string({ unit: 'binary', maxLength: 30 })
    .map((each) => `data:,${encodeURIComponent(each.toWellFormed()).replaceAll("'", '%27')}`);
  const user = fc.record({
    name,
    passwordHash: fc.stringMatching(/^\$6\$[a-z]{5,20}$/),
    sshAuthorizedKeys: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
  });
  const file = fc.record({
    path: name.map((each) => `/etc/${each}`),
    mode: fc.integer({ min: 0, max: 0o777 }),
    contents: fc.record({ source: text }),
  });
  const unit = fc.record({
    name: name.map((each) => `${each}.service`),
    enabled: fc.boolean(),
    contents: fc.constant('[Install]\nWantedBy=a.target\n'),
  });
  const added = fc.record(
    {
      passwd: fc.record({ users: fc.uniqueArray(user, { selector: (each) => each.name, minLength: 1, maxLength: 3 }) }),
      storage: fc.record({
        files: fc.uniqueArray(file, { selector: (each) => each.path, minLength: 1, maxLength: 3 }),
      }),
      systemd: fc.record({
        units: fc.uniqueArray(unit, { selector: (each) => each.name, minLength: 1, maxLength: 3 }),
      }),
    },
    { requiredKeys: [] },
  );
  const version = fc.constantFrom('3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0', '3.6.0');

  it('additions survive, the result is valid, and a second copy changes nothing', () => {
    fc.assert(
      fc.property(version, added, (version, added) => {
        const { ignition: _, ...kept } = makeCopy({ ...installer3(version), ...added });
        expect(kept).toEqual(added);
        const copy = makeCopy({ ...installer3(version), ...added });
        expect(makeCopy(copy)).toEqual(copy);
      }),
      { numRuns: 60 },
    );
  });

  it('from spec 2 as well', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('2.2.0', '2.3.0', '2.4.0'),
        fc.uniqueArray(user, { selector: (each) => each.name, minLength: 1 }),
        fc.uniqueArray(file, { selector: (each) => each.path }),
        (version, users, files) => {
          const { ignition, ...rest } = installer22();
          const stub = {
            ...rest,
            ignition: { ...ignition, version },
            passwd: { users },
            storage: { files: files.map((each) => ({ ...each, filesystem: 'root' })) },
          };
          const copy = makeCopy(stub);
          expect(copy['passwd']).toEqual({ users });
          const expected = files.map((each) => ({ ...each, overwrite: true }));
          expect(copy['storage']).toEqual(files.length === 0 ? undefined : { files: expected });
        },
      ),
      { numRuns: 60 },
    );
  });
});
