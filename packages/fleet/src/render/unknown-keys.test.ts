import { describe, expect, it } from 'vitest';
import { readMachineConfig } from './input.ts';
import { machineConfig } from './testing/sample.ts';

type Read = Awaited<ReturnType<typeof readMachineConfig>>;
const FIELD = /^MachineConfig 99-x, spec\.config\./;

const read = (sections: object, version = '3.4.0', resolved?: unknown) =>
  readMachineConfig(machineConfig('99-x', { config: { ignition: { version }, ...sections } }), resolved);
const messages = (found: Read) => (found.ok ? found.input.warnings : found.problems).map(({ message }) => message);
const files = (...list: object[]) => ({ storage: { files: list } });
const contents = { source: 'data:,a' };

describe('a key that Ignition does not know', () => {
  it.each<[string, object, string, string?]>([
    [
      'names the nearest key',
      files({ path: '/a', contents, moed: 420 }),
      'storage.files[0].moed: the key "moed" must be named mode. Ignition ignores it',
    ],
    [
      'names the key that Butane writes in another way',
      { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['a'], password_hash: 'secret' }] } },
      'passwd.users[0].password_hash: the key "password_hash" must be named passwordHash. Ignition ignores',
    ],
    [
      'names the section that it belongs to',
      { units: [], ...files({ path: '/a', contents }) },
      'units: the key "units" belongs to systemd. Ignition ignores',
    ],
    [
      'names the version that has it',
      { kernelArguments: {}, ...files({ path: '/a', contents }) },
      'kernelArguments: the key "kernelArguments" belongs to a newer spec than 3.0.0. Ignition',
      '3.0.0',
    ],
    [
      'is reported once for all its places',
      files(...['/a', '/b', '/c'].map((path) => ({ path, contents, filesystem: 'root' }))),
      'storage.files[0].filesystem: the key "filesystem" belongs to spec 2. Ignition ignores it (also in 2 other places)',
    ],
    [
      'is reported even if it resembles none',
      files({ path: '/a', contents, 'x-note': 1 }),
      'storage.files[0].x-note: the key "x-note" is not part of spec 3.4.0. Ignition ignores',
    ],
    [
      'is harmless next to contents',
      files({ path: '/a', contents: { ...contents, inline: 'secret' } }),
      'storage.files[0].contents.inline: the key "inline" belongs to Butane: run butane first, or write source: data:,….',
    ],
  ])('%s', async (_, sections, expected, version) => {
    const found = await read(sections, version);
    expect(found.ok).toBe(true);
    expect(messages(found)).toEqual([expect.stringContaining(`MachineConfig 99-x, spec.config.${expected}`)]);
    expect(messages(found).join()).not.toContain('secret');
  });

  it.each<[string, object, string]>([
    [
      'contents of Butane',
      files({ path: '/a', contents: { inline: 'secret' } }),
      'storage.files[0].contents.inline: the key "inline" belongs to Butane: run butane first, or write source: data:,…. Ignition ignores it, and this resource would be empty',
    ],
    [
      'a local file of Butane',
      files({ path: '/a', contents: { local: 'a' } }),
      'contents.local: the key "local" belongs',
    ],
    [
      'contents with another name',
      files({ path: '/a', content: contents }),
      'storage.files[0].content: the key "content" must be named contents.',
    ],
    [
      'a source with another name',
      files({ path: '/a', contents: { text: 'a' } }),
      'contents.text: the key "text" is not part',
    ],
    [
      'SSH keys in snake case',
      { passwd: { users: [{ name: 'core', ssh_authorized_keys: ['a'] }] } },
      'passwd.users[0].ssh_authorized_keys: the key "ssh_authorized_keys" must be named sshAuthorizedKeys.',
    ],
    ['a section of storage at the top', { files: [] }, 'files: the key "files" belongs to storage.'],
    [
      'a list of storage with another name',
      { storage: { fles: [] } },
      'storage.fles: the key "fles" must be named files.',
    ],
    [
      'a unit of nothing else',
      { systemd: { units: [{ name: 'a.service', content: '' }] } },
      'content: the key "content" must be named contents',
    ],
  ])('is an error if nothing is left of the entry: %s', async (_, sections, expected) => {
    const found = await read(sections);
    expect(found).toMatchObject({ ok: false, problems: [{ code: 'SLW_RENDER_UNKNOWN_KEY' }] });
    expect(messages(found)[0]).toMatch(FIELD);
    expect(messages(found)).toEqual([expect.stringContaining(expected)]);
    expect(messages(found).join()).not.toContain('secret');
  });

  it('is reported together with the other mistakes of the config', async () => {
    const found = await read(files({ path: '/a', mode: 644, contents: { inline: 'x' } }));
    const codes = found.ok ? [] : found.problems.map((problem) => 'code' in problem && problem.code);
    expect(codes).toEqual(['SLW_RENDER_MODE', 'SLW_RENDER_UNKNOWN_KEY']);
  });

  it('is found in the MachineConfig, not in its resolved config, and never in a rendered one', async () => {
    const sections = files({ path: '/a', contents: { inline: 'a' } });
    const resolved = { ignition: { version: '3.4.0' } };
    expect(await read(sections, '3.4.0', resolved)).toMatchObject({ ok: false });
    const { spec } = machineConfig('a', { config: { ...resolved, ...sections } });
    expect(await readMachineConfig(machineConfig('a', spec), undefined, 'rendered')).toMatchObject({ ok: true });
  });
});
