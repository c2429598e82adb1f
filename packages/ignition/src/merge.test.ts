import { describe, expect, it } from 'vitest';
import { merge } from './merge.ts';
import { parse } from './parse.ts';
import { type ConfigOf, isOfVersion } from './spec/index.ts';

type V = '3.5.0';

function config(sections: object): ConfigOf<V> {
  const parsed = parse({ ignition: { version: '3.5.0' }, ...sections });
  if (parsed.config === null || !isOfVersion(parsed.config, '3.5.0')) throw new Error(JSON.stringify(parsed.report));
  return parsed.config;
}

function mergeAll(...sections: object[]) {
  return merge(sections.map((section, index) => ({ name: `input ${index}`, config: config(section) })));
}

const storage = (fields: object) => ({ storage: fields });
const file = (fields: object) => ({ storage: { files: [{ path: '/a', ...fields }] } });

describe('merging', () => {
  it.each<[string, object[], object]>([
    [
      'keeps what only one side says',
      [file({ mode: 420 }), storage({ links: [{ path: '/l', target: 'x' }] })],
      {
        storage: { files: [{ path: '/a', mode: 420 }], links: [{ path: '/l', target: 'x' }] },
      },
    ],
    [
      'takes the child where both say something, even false or an empty text',
      [
        { systemd: { units: [{ name: 'a.service', enabled: true, contents: '[Unit]' }] } },
        { systemd: { units: [{ name: 'a.service', enabled: false, contents: '' }] } },
      ],
      { systemd: { units: [{ name: 'a.service', enabled: false, contents: '' }] } },
    ],
    [
      'keeps the order of the parent and appends what is new',
      [
        storage({ files: [{ path: '/b' }, { path: '/a' }] }),
        storage({ files: [{ path: '/c' }, { path: '/a', mode: 1 }] }),
      ],
      { storage: { files: [{ path: '/b' }, { path: '/a', mode: 1 }, { path: '/c' }] } },
    ],
    [
      'puts lists without keys one after the other',
      [file({ append: [{ source: 'data:,1' }] }), file({ append: [{ source: 'data:,1' }] })],
      file({ append: [{ source: 'data:,1' }, { source: 'data:,1' }] }),
    ],
    [
      'takes plain texts for their own keys',
      [
        { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['k1', 'k2'] }] } },
        { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['k2', 'k3'] }] } },
      ],
      { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['k1', 'k2', 'k3'] }] } },
    ],
    [
      'lets a link take the place of a file',
      [storage({ files: [{ path: '/a' }, { path: '/b' }] }), storage({ links: [{ path: '/a', target: 'x' }] })],
      storage({ files: [{ path: '/b' }], links: [{ path: '/a', target: 'x' }] }),
    ],
    [
      'leaves no empty list behind',
      [storage({ files: [{ path: '/a' }] }), storage({ directories: [{ path: '/a' }] })],
      storage({ directories: [{ path: '/a' }] }),
    ],
    [
      'moves a kernel argument from one list to the other',
      [{ kernelArguments: { shouldExist: ['a', 'b'] } }, { kernelArguments: { shouldNotExist: ['a'] } }],
      { kernelArguments: { shouldExist: ['b'], shouldNotExist: ['a'] } },
    ],
    [
      'removes a header that the child names without a value',
      [
        {
          ignition: {
            version: '3.5.0',
            config: {
              merge: [
                {
                  source: 'http://a',
                  httpHeaders: [
                    { name: 'A', value: '1' },
                    { name: 'B', value: '2' },
                  ],
                },
              ],
            },
          },
        },
        { ignition: { version: '3.5.0', config: { merge: [{ source: 'http://a', httpHeaders: [{ name: 'A' }] }] } } },
      ],
      {
        ignition: {
          version: '3.5.0',
          config: { merge: [{ source: 'http://a', httpHeaders: [{ name: 'B', value: '2' }] }] },
        },
      },
    ],
    [
      'knows partitions by number, and without one by label',
      [
        storage({ disks: [{ device: '/dev/sda', partitions: [{ number: 1, label: 'x' }, { label: 'root' }] }] }),
        storage({
          disks: [
            {
              device: '/dev/sda',
              partitions: [
                { label: 'root', sizeMiB: 9 },
                { number: 1, label: 'y' },
              ],
            },
          ],
        }),
      ],
      storage({
        disks: [
          {
            device: '/dev/sda',
            partitions: [
              { number: 1, label: 'y' },
              { label: 'root', sizeMiB: 9 },
            ],
          },
        ],
      }),
    ],
  ])('%s', (_, inputs, expected) => {
    expect(mergeAll(...inputs).config).toEqual({ ignition: { version: '3.5.0' }, ...expected });
  });

  it('treats source, compression, hash and headers as one unit: a new source replaces them all', () => {
    const hash = `sha256-${'0'.repeat(64)}`;
    const parent = file({
      contents: {
        source: 'https://a',
        compression: 'gzip',
        verification: { hash },
        httpHeaders: [{ name: 'Authorization', value: 's' }],
      },
    });
    expect(mergeAll(parent, file({ contents: { source: 'data:,x' } })).config.storage?.files).toEqual([
      { path: '/a', contents: { source: 'data:,x' } },
    ]);
    expect(mergeAll(parent, file({ contents: { source: 'https://a' } })).config.storage?.files).toEqual(
      config(parent).storage?.files,
    );
    expect(
      mergeAll(parent, file({ contents: { compression: '' } })).config.storage?.files?.[0]?.contents,
    ).toMatchObject({
      source: 'https://a',
      compression: '',
      verification: { hash },
    });
  });

  it('keeps the target of a link if the child does not set it', () => {
    const links = (version: '3.2.0' | '3.3.0', link: object) => {
      const parsed = parse({ ignition: { version }, storage: { links: [{ path: '/a', ...link }] } });
      if (parsed.config === null || !isOfVersion(parsed.config, version))
        throw new Error(JSON.stringify(parsed.report));
      return { name: 'input', config: parsed.config };
    };
    const target = (...inputs: ReturnType<typeof links>[]) => merge(inputs).config.storage?.links?.[0]?.target;
    expect(target(links('3.2.0', { target: 'x' }), links('3.2.0', {}))).toBe('x');
    expect(target(links('3.2.0', { target: 'x' }), links('3.2.0', { hard: true }))).toBe('');
    expect(target(links('3.3.0', { target: 'x' }), links('3.3.0', { hard: true }))).toBe('x');
    expect(target(links('3.3.0', { target: 'x' }), links('3.3.0', { target: '' }))).toBe('');
  });

  it('does not change its inputs', () => {
    const a = config(file({ mode: 1, append: [{ source: 'data:,1' }] }));
    const b = config(file({ mode: 2, append: [{ source: 'data:,2' }] }));
    const before = JSON.stringify([a, b]);
    merge([
      { name: 'a', config: a },
      { name: 'b', config: b },
      { name: 'c', config: a },
    ]);
    expect(JSON.stringify([a, b])).toBe(before);
  });

  it('needs a base, and one spec version', () => {
    expect(() => merge([])).toThrow(/at least one/);
    const older = { ignition: { version: '3.4.0' as const } };
    const inputs = [
      { name: 'a', config: config({}) },
      { name: 'b', config: older },
    ];
    expect(() => merge<'3.4.0' | '3.5.0'>(inputs)).toThrow(/b has 3\.4\.0, the base 3\.5\.0/);
  });

  it('takes time proportional to the size of the inputs, not to their number times the result', () => {
    const base = config(storage({ files: Array.from({ length: 20_000 }, (_, index) => ({ path: `/base/${index}` })) }));
    const small = Array.from({ length: 500 }, (_, index) =>
      config(storage({ files: [{ path: `/base/${index}`, mode: 1 }] })),
    );
    const began = process.threadCpuUsage();
    const { config: merged } = merge([base, ...small].map((input, index) => ({ name: String(index), config: input })));
    expect(merged.storage?.files).toHaveLength(20_000);
    const { user, system } = process.threadCpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});

describe('provenance', () => {
  it('records which input set a field, and which set it earlier', () => {
    const { provenance } = mergeAll(
      file({ mode: 1, user: { name: 'root' } }),
      file({ mode: 2 }),
      storage({ files: [{ path: '/b' }, { path: '/a', mode: 3 }] }),
    );
    expect(Object.fromEntries(provenance)).toEqual({
      'ignition.version': { from: 'input 2', overrode: ['input 0', 'input 1'] },
      'storage.files[0].path': { from: 'input 2', overrode: ['input 0', 'input 1'] },
      'storage.files[0].mode': { from: 'input 2', overrode: ['input 0', 'input 1'] },
      'storage.files[0].user.name': { from: 'input 0', overrode: [] },
      'storage.files[1].path': { from: 'input 2', overrode: [] },
    });
    expect(provenance.size).toBe(5);
    expect(provenance.get('storage.files[0].mode')?.from).toBe('input 2');
    expect(provenance.has('storage.files[2].path')).toBe(false);
  });

  it('counts what an item of another list displaced', () => {
    const { provenance } = mergeAll(file({ user: { id: 0 } }), storage({ links: [{ path: '/a', target: 'x' }] }));
    expect(provenance.get('storage.links[0].path')).toEqual({ from: 'input 1', overrode: ['input 0'] });
    expect(provenance.get('storage.links[0].target')).toEqual({ from: 'input 1', overrode: [] });
  });

  it('counts the old source that a new one replaced', () => {
    const { provenance } = mergeAll(
      file({ contents: { source: 'data:,1', compression: 'gzip' } }),
      file({ contents: { source: 'data:,2' } }),
    );
    expect(provenance.get('storage.files[0].contents.source')).toEqual({ from: 'input 1', overrode: ['input 0'] });
    expect(provenance.has('storage.files[0].contents.compression')).toBe(false);
  });
});
