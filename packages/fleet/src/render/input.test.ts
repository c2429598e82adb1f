import { generatedByAnnotation, type MachineConfig } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { needsRemoteContent, remoteReferences } from './remote.ts';
import { readMachineConfig } from './input.ts';
import { dataUrl, file, ignition, readInput, machineConfig, withFiles } from './testing/sample.ts';

const listProblems = async (spec: NonNullable<MachineConfig['spec']>, resolved?: unknown) => {
  const read = await readMachineConfig(machineConfig('99-worker-x', spec), resolved);
  return read.ok ? [] : read.problems;
};

const empty = { ignition: { version: '3.5.0' } };

describe('a MachineConfig', () => {
  it.each([[undefined], [{}]])('with the config %j has an empty Ignition config', async (config) => {
    expect((await readInput(machineConfig('a', config === undefined ? {} : { config }))).config).toEqual(empty);
  });

  it('without a spec has default settings', async () => {
    expect(await readInput({ metadata: { name: 'bare' } })).toMatchObject({
      name: 'bare',
      config: empty,
      kernelArguments: [],
      kernelType: 'default',
      extensions: [],
      fips: false,
      osImageURL: '',
      generatedBy: '',
    });
  });

  it.each(['2.2.0', '3.0.0', '3.2.0', '3.4.0', '3.5.0', '3.6.0'])(
    'of spec %s becomes one of 3.5.0',
    async (version) => {
      const own = version === '2.2.0' ? { filesystem: 'root' } : {};
      const config = { ignition: { version }, storage: { files: [file('/etc/a', 'a', own)] } };
      expect((await readInput(machineConfig('a', { config }))).config).toMatchObject({
        ignition: { version: '3.5.0' },
        storage: { files: [{ path: '/etc/a', mode: 0o644, contents: { source: 'data:,a' } }] },
      });
    },
  );

  it('has its creator, and its reference for the pool', async () => {
    const made: MachineConfig = { metadata: { name: 'm', annotations: { [generatedByAnnotation]: '1.2.3' } } };
    expect(await readInput(made)).toMatchObject({
      generatedBy: '1.2.3',
      reference: { apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig', name: 'm' },
    });
  });

  it.each<[string, object, string]>([
    [
      'a source without a scheme',
      withFiles(file('/a', '', { contents: { source: 'hello' } })),
      'spec.config.storage.files[0].contents.source: the source "hello" has no scheme: for text write data:,hello',
    ],
    [
      'a file below a file',
      withFiles(file('/a', ''), file('/a/b', '')),
      'spec.config.storage.files[1].path: /a/b is below /a, which is a file: expected a directory there',
    ],
    [
      'a mode in quotes',
      withFiles(file('/a', '', { mode: '0644' })),
      'spec.config.storage.files[0].mode: expected a whole number, found a string: write 420, or 0644 in YAML, without quotes',
    ],
    [
      'a Butane config',
      { config: { variant: 'openshift', version: '4.20.0' } },
      'spec.config.ignition.version: the spec version is missing: this is a Butane config: run butane first; or expected one of',
    ],
    [
      'an unknown place in a data URL',
      withFiles(file('/a', '', { contents: { source: 'data:,a b' } })),
      'cannot be decoded: the character " " in its data must be percent-encoded',
    ],
    [
      'a label that spec 3 does not have',
      {
        config: {
          ignition: { version: '2.3.0' },
          storage: { disks: [{ device: '/dev/sda', partitions: [{ label: 'a:b' }] }] },
        },
      },
      'cannot be expressed in spec 3.5.0: ',
    ],
  ])('is refused with a message that says what to write: %s', async (_, spec, expected) => {
    const [problem] = await listProblems(spec);
    expect(problem?.message).toContain(expected);
    expect(problem?.message).not.toContain('3.0.0: ');
  });

  it('without modes in spec 2 has a warning that names the default', async () => {
    const place = { filesystem: 'root', path: '/a' };
    const storage = { files: [{ ...place, contents: { source: 'data:,a' } }], directories: [{ ...place, path: '/b' }] };
    const { warnings } = await readInput(machineConfig('a', { config: { ignition: { version: '2.2.0' }, storage } }));
    expect(warnings.map(({ message }) => message)).toEqual([
      'MachineConfig a, spec.config.storage.files[0].mode: the mode is not set, so it will be the default, 0644',
      'MachineConfig a, spec.config.storage.directories[0].mode: the mode is not set, so it will be the default, 0755',
    ]);
  });

  it('has a warning for what a machine ignores', async () => {
    expect(
      (await readInput(machineConfig('a', { config: ignition({ systemd: {}, sistemd: {} }) }))).warnings,
    ).toMatchObject([{ code: 'SLW_RENDER_IGNITION', object: 'MachineConfig a', field: 'spec.config.sistemd' }]);
  });
});

describe('a MachineConfig is refused', () => {
  it.each([
    ['of an unknown version', { ignition: { version: '4.0.0' } }, 'SLW_RENDER_PARSE', 'spec.config.ignition.version'],
    ['with a wrong type', ignition({ storage: { files: {} } }), 'SLW_RENDER_PARSE', 'spec.config.storage.files'],
    [
      'with a bad path',
      ignition({ storage: { files: [{ path: 'a' }] } }),
      'SLW_RENDER_INVALID',
      'spec.config.storage.files[0].path',
    ],
    [
      'with a sticky directory of 3.6',
      { ignition: { version: '3.6.0' }, storage: { directories: [{ path: '/a', mode: 0o1777 }] } },
      'SLW_RENDER_TRANSLATE',
      'spec.config.storage.directories[0].mode',
    ],
  ])('%s, naming the field', async (_, config, code, field) => {
    const [problem] = await listProblems({ config });
    expect(problem).toMatchObject({ code, object: 'MachineConfig 99-worker-x', field });
    expect(problem?.message).toContain(`MachineConfig 99-worker-x, ${field}: `);
  });

  it('with a file mode above 0777, once, naming the file and what to write', async () => {
    expect(await listProblems(withFiles(file('/etc/ok', ''), file('/etc/odd', '', { mode: 644 })))).toMatchObject([
      {
        code: 'SLW_RENDER_MODE',
        field: 'spec.config.storage.files[1].mode',
        message: expect.stringMatching(/file \/etc\/odd: the mode 644 .* write 420/),
      },
    ]);
    expect(await listProblems(withFiles(file('/etc/odd', '', { mode: 70_000 })))).toMatchObject([
      { code: 'SLW_RENDER_MODE' },
    ]);
  });

  it.each([
    ['files', '/etc/kubernetes/kubeconfig'],
    ['files', '/etc/kubernetes//./ca.crt'],
    ['files', '/etc/machine-config-daemon/node-annotations.json'],
    ['directories', '/etc/ignition-machine-config-encapsulated.json'],
    ['links', '/etc/kubernetes/ca.crt'],
  ] as const)('with %s at a path that the server writes: %s', async (list, path) => {
    const entry = { path, ...(list === 'links' && { target: '/a' }) };
    const field = `spec.config.storage.${list}[1].path`;
    const other = { path: '/etc/kubernetes/kubelet-ca.crt', ...(list === 'links' && { target: '/a' }) };
    const found = await listProblems({ config: ignition({ storage: { [list]: [other, entry] } }) });
    expect(found.filter(({ code }) => code === 'SLW_RENDER_RESERVED')).toMatchObject([
      {
        field,
        message: expect.stringMatching(
          /the machine config server writes \/etc\/[^ ]+ when a machine joins.*Remove this entry/,
        ),
      },
    ]);
  });

  it.each([
    ['files', '/etc/machine-config-daemon/currentconfig'],
    ['files', '/etc/machine-config-daemon/baseline.json'],
    ['files', '/etc/machine-config-daemon/orig/etc/hosts.mcdorig'],
    ['links', '/etc/machine-config-daemon/update'],
    ['files', '/etc/systemd/system-preset/20-ignition.preset'],
    ['files', '/etc/ignition-machine-config-encapsulated.json.bak'],
    ['files', '/etc/.ignition-result.json'],
  ] as const)('with %s at a path that the daemon or Ignition writes: %s', async (list, path) => {
    const place = (at: string) => ({ path: at, ...(list === 'links' && { target: '/a' }) });
    const others = ['/etc/machine-config-daemon/no-reboot/containers-gpg.pub', '/etc/machine-config-daemon/updates'];
    const found = await listProblems({ config: ignition({ storage: { [list]: [...others, path].map(place) } }) });
    expect(found.filter(({ code }) => code === 'SLW_RENDER_RESERVED')).toMatchObject([
      {
        field: `spec.config.storage.${list}[2].path`,
        message: expect.stringContaining(path),
      },
    ]);
  });

  it('with an unknown kernel type', async () => {
    expect(await listProblems({ kernelType: 'rt' })).toMatchObject([
      {
        code: 'SLW_RENDER_KERNEL_TYPE',
        field: 'spec.kernelType',
        message: expect.stringContaining('expected default, realtime, 64k-pages or none, found "rt"'),
      },
    ]);
    expect(await listProblems({ kernelType: '' })).toEqual([]);
  });

  it('with contents that no machine can take, unless a machine already has them', async () => {
    const contents = { source: dataUrl('secret'), compression: 'gzip' };
    const spec = withFiles(file('/etc/ok', ''), file('/etc/odd', '', { contents }));
    expect(await listProblems(spec)).toEqual([
      {
        code: 'SLW_RENDER_CONTENTS',
        object: 'MachineConfig 99-worker-x',
        field: 'spec.config.storage.files[1].contents.compression',
        message:
          'MachineConfig 99-worker-x, spec.config.storage.files[1].contents.compression: compression is gzip, but the data is not gzip. Compress the contents with gzip, or remove compression',
      },
    ]);
    expect(await readMachineConfig(machineConfig('rendered-a', spec), spec.config, 'rendered')).toMatchObject({
      ok: true,
    });
  });

  it.each([
    [
      'zsh',
      'expected one of ipsec, kerberos, kernel-devel, sandboxed-containers, sysstat, two-node-ha, usbguard, found "zsh"',
    ],
    ['usb-guard', '"usb-guard" is not an extension. Write usbguard'],
    ['', 'expected one of ipsec, '],
  ])('with the unknown extension "%s", unless a machine already has it', async (name, text) => {
    const spec = { extensions: ['usbguard', name] };
    const field = 'spec.extensions[1]';
    expect(await listProblems(spec)).toMatchObject([
      { code: 'SLW_RENDER_EXTENSION', field, message: expect.stringContaining(`${field}: ${text}`) },
    ]);
    expect(await readMachineConfig(machineConfig('a', spec), undefined, 'rendered')).toMatchObject({ ok: true });
  });

  it('with all its problems, up to a limit', async () => {
    const files = Array.from({ length: 100 }, (_, index) => file(`/etc/${index}`, '', { mode: 0o1777 }));
    const problems = await listProblems({ ...withFiles(...files), kernelType: 'rt' });
    expect(problems).toHaveLength(21);
    expect(problems[19]?.message).toContain('and 80 more problems');
    expect(problems[20]).toMatchObject({ code: 'SLW_RENDER_KERNEL_TYPE' });
  });
});

describe('a MachineConfig with remote content', () => {
  const config = ignition({
    storage: { files: [{ path: '/etc/a', contents: { source: 'https://user:secret@example.com/a?token=secret' } }] },
  });

  it('is refused until its content is fetched, without showing credentials', async () => {
    const [problem, ...others] = await listProblems({ config });
    expect(problem).toMatchObject({ code: 'SLW_RENDER_REMOTE', field: 'spec.config.storage.files[0].contents.source' });
    expect(problem?.message).toContain('https://…@example.com/a');
    expect(problem?.message).not.toContain('secret');
    expect(others).toEqual([]);
  });

  it('is read from its snapshot', async () => {
    const resolved = ignition({ storage: { files: [file('/etc/a', 'fetched')] } });
    expect(await listProblems({ config }, resolved)).toEqual([]);
    expect(await listProblems({ config }, config)).toMatchObject([{ code: 'SLW_RENDER_REMOTE' }]);
  });

  it('is refused if another config in a data URL is not included yet', async () => {
    const merging = { ignition: { version: '3.5.0', config: { merge: [{ source: dataUrl('{}') }] } } };
    expect(await listProblems({ config: merging })).toMatchObject([
      { code: 'SLW_RENDER_REMOTE', field: 'spec.config.ignition.config.merge[0].source' },
    ]);
  });
});

const remote = { source: 'https://example.com/x' };
const inline = { source: 'data:,x' };

describe('a config refers to remote content', () => {
  it.each<[string, object]>([
    ['ignition.config.merge[0].source', { ignition: { version: '3.5.0', config: { merge: [remote] } } }],
    ['ignition.config.replace.source', { ignition: { version: '3.5.0', config: { replace: remote } } }],
    ['ignition.config.append[0].source', { ignition: { version: '2.2.0', config: { append: [remote] } } }],
    [
      'ignition.security.tls.certificateAuthorities[0].source',
      { ignition: { version: '3.5.0', security: { tls: { certificateAuthorities: [remote] } } } },
    ],
    [
      'storage.files[1].contents.source',
      ignition({ storage: { files: [{ contents: inline }, { contents: remote }] } }),
    ],
    ['storage.files[0].append[0].source', ignition({ storage: { files: [{ append: [remote] }] } })],
    ['storage.luks[0].keyFile.source', ignition({ storage: { luks: [{ keyFile: remote }] } })],
    ['storage.files[0].contents.source', ignition({ storage: { files: [{ contents: { source: 'S3://bucket/x' } }] } })],
    ['storage.files[0].contents.source', ignition({ storage: { files: [{ contents: { source: 'tftp://host/x' } }] } })],
    // Another config must be included even from a data URL.
    ['ignition.config.merge[0].source', { ignition: { version: '3.5.0', config: { merge: [inline] } } }],
  ])('by %s', (path, config) => {
    expect(remoteReferences(config).map((reference) => reference.path)).toEqual([path]);
  });

  it.each<[string, unknown]>([
    ['without a config', undefined],
    ['with contents of its own', ignition({ storage: { files: [file('/a', 'https://example.com')] } })],
    ['with an empty file', ignition({ storage: { files: [{ path: '/a', contents: { source: '' } }] } })],
    ['with a unit that mentions a URL', ignition({ systemd: { units: [{ contents: 'source=https://example.com' }] } })],
    ['with a proxy', { ignition: { version: '3.5.0', proxy: { httpProxy: 'https://example.com' } } }],
    ['that is not an object', 'source'],
  ])('not %s', (_, config) => {
    expect(remoteReferences(config)).toEqual([]);
  });

  it('however deep it is nested, the search ends', () => {
    let config: object = remote;
    for (let depth = 0; depth < 50_000; depth += 1) config = { config };
    expect(remoteReferences(config)).toEqual([]);
  });

  it('and then the content of its MachineConfig must be fetched', () => {
    expect(
      needsRemoteContent(machineConfig('a', { config: ignition({ storage: { files: [{ contents: remote }] } }) })),
    ).toBe(true);
    expect(needsRemoteContent(machineConfig('a'))).toBe(false);
  });
});
