import { builtInLabel, generatedByAnnotation, machineConfigKind, ROLE_LABEL, validate } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { renderPool } from './render-pool.ts';
import { dataUrl, file, ignition, readInput, machineConfig, render, renderOk, withFiles } from './testing/sample.ts';

const listProblems = async (...args: Parameters<typeof render>) => {
  const result = await render(...args);
  return result.ok ? [] : result.problems;
};

describe('a rendered config', () => {
  it('is normalised: lists and flags are always present, an image only if there is one', async () => {
    const { rendered } = await renderOk([machineConfig('00-worker')]);
    expect(rendered.spec).toEqual({
      config: { ignition: { version: '3.5.0' } },
      kernelArguments: [],
      kernelType: 'default',
      extensions: [],
      fips: false,
    });
  });

  it('is a valid MachineConfig', async () => {
    const { rendered } = await renderOk([machineConfig('a', { ...withFiles(file('/etc/a', 'a')), fips: true })]);
    const object = {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      metadata: { name: rendered.name },
      spec: rendered.spec,
    };
    expect(validate(machineConfigKind, object)).toMatchObject({ ok: true });
  });

  // A fixed value: another name for the same config would update the whole fleet.
  it('keeps its name across releases', async () => {
    const { rendered } = await renderOk([
      machineConfig('00-worker', { ...withFiles(file('/etc/motd', 'Welcome.\n')), kernelArguments: ['nosmt'] }),
    ]);
    expect(rendered.name).toBe('rendered-worker-a9ef8fd96daa2dbea351ba200065443b');
  });

  it.each([
    ['no list and an empty one', {}, { kernelArguments: [], extensions: [] }],
    ['null and an empty list', { kernelArguments: null }, { kernelArguments: [] }],
    ['no kernel type, an empty one and the default', { kernelType: '' }, { kernelType: 'default' }],
    ['no FIPS and false', {}, { fips: false }],
    ['no image and an empty one', {}, { osImageURL: '', baseOSExtensionsContainerImage: '' }],
    ['no config and one with nothing in it', {}, { config: ignition({ storage: { files: [] }, passwd: {} }) }],
    [
      'extensions in any order, once or twice',
      { extensions: ['ipsec', 'usbguard'] },
      { extensions: ['usbguard', 'ipsec', 'usbguard'] },
    ],
  ])('has the same name for %s', async (_, one, other) => {
    const [a, b] = await Promise.all([one, other].map((spec) => renderOk([machineConfig('a', spec)])));
    expect(a?.rendered.name).toBe(b?.rendered.name);
    expect(a?.rendered.spec).toEqual(b?.rendered.spec);
  });

  it('refers to its MachineConfigs in merge order', async () => {
    const { rendered } = await renderOk([machineConfig('b'), machineConfig('a')]);
    const reference = { apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig' };
    expect(rendered.sources).toEqual([
      { ...reference, name: 'a' },
      { ...reference, name: 'b' },
    ]);
  });
});

describe('MachineConfigs merge', () => {
  it('files by path: the later one wins, field by field', async () => {
    const { rendered } = await renderOk([
      machineConfig('10', withFiles(file('/etc/a', 'old', { user: { name: 'core' } }), file('/etc/b', 'b'))),
      machineConfig('20', withFiles({ path: '/etc/a', mode: 0o600, contents: { source: dataUrl('new') } })),
    ]);
    expect(rendered.spec.config.storage?.files).toEqual([
      { path: '/etc/a', mode: 0o600, contents: { source: 'data:,new' }, user: { name: 'core' }, overwrite: true },
      { path: '/etc/b', mode: 0o644, contents: { source: 'data:,b' }, overwrite: true },
    ]);
  });

  it('contents as a whole: new contents drop the compression and hash of old ones', async () => {
    const hash = 'sha256-cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4';
    const packed = {
      source: 'data:;base64,H4sIAAAAAAAC/8vPSQEA5dRdPwMAAAA=',
      compression: 'gzip',
      verification: { hash },
    };
    const { rendered } = await renderOk([
      machineConfig('10', withFiles({ path: '/a', contents: packed })),
      machineConfig('20', withFiles({ path: '/a', contents: { source: 'data:,new' } })),
    ]);
    expect(rendered.spec.config.storage?.files?.[0]?.contents).toEqual({ source: 'data:,new' });
  });

  it('overwrite: true for files, unless it is set explicitly or there are no contents', async () => {
    const { rendered } = await renderOk([
      machineConfig(
        '10',
        withFiles(file('/no', '', { overwrite: false }), file('/yes', ''), { path: '/only-mode', mode: 0o600 }),
      ),
      machineConfig('20', withFiles(file('/no', 'later'))),
    ]);
    expect(rendered.spec.config.storage?.files?.map(({ path, overwrite }) => [path, overwrite])).toEqual([
      ['/no', false],
      ['/yes', true],
      ['/only-mode', undefined],
    ]);
  });

  it('kernel arguments in order, none dropped; FIPS if one requests it; the last non-default kernel; extensions as a set', async () => {
    const { rendered } = await renderOk([
      machineConfig('10', {
        kernelArguments: ['console=tty0', 'nosmt'],
        kernelType: '64k-pages',
        extensions: ['usbguard'],
      }),
      machineConfig('20', { kernelArguments: ['console=ttyS0', 'nosmt'], kernelType: 'realtime', fips: true }),
      machineConfig('30', { kernelType: 'default', fips: false, extensions: ['ipsec', 'usbguard'] }),
    ]);
    expect(rendered.spec).toMatchObject({
      kernelArguments: ['console=tty0', 'nosmt', 'console=ttyS0', 'nosmt'],
      kernelType: 'realtime',
      fips: true,
      extensions: ['ipsec', 'usbguard'],
    });
  });

  it('the images of the cluster, unless a MachineConfig replaces one, with a warning', async () => {
    const osImages = { osImageURL: 'quay.io/os@sha256:1', baseOSExtensionsContainerImage: 'quay.io/ext@sha256:1' };
    const plain = await renderOk([machineConfig('10')], { osImages });
    expect(plain.rendered.spec).toMatchObject(osImages);
    expect(plain.warnings).toEqual([]);

    const own = [machineConfig('10', { osImageURL: 'own:1' }), machineConfig('20', { osImageURL: 'own:2' })];
    const replaced = await renderOk(own, { osImages });
    expect(replaced.rendered.spec).toMatchObject({ ...osImages, osImageURL: 'own:2' });
    expect(replaced.warnings).toMatchObject([
      { code: 'SLW_RENDER_OS_IMAGE', object: 'MachineConfig 20', field: 'spec.osImageURL' },
    ]);
    expect(replaced.warnings[0]?.message).toContain('own:2 replaces the image of the cluster, quay.io/os@sha256:1');

    const same = await renderOk([machineConfig('10', { osImageURL: osImages.osImageURL })], { osImages });
    expect(same.warnings).toEqual([]);
  });
});

describe('the OS image stream of a pool', () => {
  const osImages = { osImageURL: 'quay.io/os@sha256:1', baseOSExtensionsContainerImage: 'quay.io/ext@sha256:1' };
  const asked = { osImages, osStream: { name: 'rhel-10', isAsked: true } };
  const tracked = { osImages, osStream: { name: 'rhel-10', isAsked: false } };

  it('provides the images of the rendered config, which records the stream', async () => {
    for (const request of [asked, tracked]) {
      const { rendered, warnings } = await renderOk([machineConfig('10')], request);
      expect(rendered.spec).toMatchObject(osImages);
      expect(rendered.osStream).toBe('rhel-10');
      expect(warnings).toEqual([]);
    }
  });

  it('is not part of the name: the same images are the same config', async () => {
    const [with_, without] = [
      await renderOk([machineConfig('10')], asked),
      await renderOk([machineConfig('10')], { osImages }),
    ];
    expect(with_.rendered.name).toBe(without.rendered.name);
    expect(without.rendered.osStream).toBeNull();
  });

  it('conflicts with an image if users request both: every object and field is named', async () => {
    const configs = [
      machineConfig('10', { osImageURL: 'own:1' }),
      machineConfig('20', { baseOSExtensionsContainerImage: 'own-ext:1', osImageURL: osImages.osImageURL }),
    ];
    expect(await listProblems(configs, asked)).toMatchObject([
      { code: 'SLW_RENDER_OS_STREAM', object: 'MachineConfig 10', field: 'spec.osImageURL' },
      { code: 'SLW_RENDER_OS_STREAM', object: 'MachineConfig 20', field: 'spec.osImageURL' },
      { code: 'SLW_RENDER_OS_STREAM', object: 'MachineConfig 20', field: 'spec.baseOSExtensionsContainerImage' },
    ]);
    expect((await listProblems(configs, asked))[0]?.message).toBe(
      'MachineConfig 10, spec.osImageURL: found own:1, but spec.osImageStream of MachineConfigPool worker requests the stream rhel-10: expected only one of the two. Remove this field to follow the stream, or spec.osImageStream of the pool to use this image',
    );
  });

  it('gives way to an image that a MachineConfig requests, with a warning', async () => {
    const own = [machineConfig('10', { osImageURL: 'own:1' })];
    const { rendered, warnings } = await renderOk(own, tracked);
    expect(rendered.spec.osImageURL).toBe('own:1');
    expect(rendered.osStream).toBeNull();
    expect(warnings).toMatchObject([{ code: 'SLW_RENDER_OS_IMAGE', object: 'MachineConfig 10' }]);
  });

  it('does not conflict with MachineConfigs of controllers', async () => {
    const builtIn = machineConfig('00-worker', { osImageURL: osImages.osImageURL });
    builtIn.metadata.annotations = { [generatedByAnnotation]: '1.0.0' };
    expect(await listProblems([builtIn], asked)).toEqual([]);
  });
});

describe('a render is refused', () => {
  it('of a pool that selects nothing', async () => {
    expect(await listProblems([])).toMatchObject([
      { code: 'SLW_RENDER_NO_CONFIG', object: 'MachineConfigPool worker', field: 'spec.machineConfigSelector' },
    ]);
  });

  it('with a MachineConfig of another controller version', async () => {
    const labels = { [ROLE_LABEL]: 'worker', [builtInLabel]: '' };
    const old = { metadata: { name: '00-worker', labels, annotations: { [generatedByAnnotation]: '0.9.0' } } };
    const [problem] = await listProblems([old]);
    expect(problem).toMatchObject({ code: 'SLW_RENDER_VERSION', object: 'MachineConfig 00-worker' });
    expect(problem?.message).toContain('expected 1.0.0, found 0.9.0');
    expect(await listProblems([old], { controllerVersion: '0.9.0' })).toEqual([]);
  });

  it('with kernel-devel and another kernel, naming both MachineConfigs', async () => {
    const devel = machineConfig('10-devel', { extensions: ['kernel-devel'] });
    const [problem] = await listProblems([devel, machineConfig('20-rt', { kernelType: 'realtime' })]);
    expect(problem).toMatchObject({
      code: 'SLW_RENDER_KERNEL_DEVEL',
      object: 'MachineConfig 10-devel',
      field: 'spec.extensions',
      message: expect.stringContaining('MachineConfig 20-rt has spec.kernelType realtime'),
    });
    expect(await listProblems([devel])).toEqual([]);
  });

  it('with a reference to remote content in the result, even if the inputs claim to have none', async () => {
    const input = await readInput(machineConfig('10', withFiles(file('/a', ''))));
    const source = 'https://example.com/a';
    const config = { ...input.config, storage: { files: [{ path: '/a', contents: { source } }] } };
    const inputs = [{ ...input, config }];
    const result = await renderPool({ pool: 'worker', inputs, osImages: {}, controllerVersion: '1' });
    expect(result).toMatchObject({
      ok: false,
      problems: [
        {
          code: 'SLW_RENDER_REMOTE',
          object: 'MachineConfig 10',
          field: 'spec.config.storage.files[0].contents.source',
        },
      ],
    });
  });
});
