import { bootImagesReport } from '@slipway/fleet/reports';
import { clusterFacts, entry, sampleBootImage, report, workerA } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { bootImagesText, shortBootImage } from './bootimages.ts';

describe('the text of slipway bootimages', () => {
  it('is a table with current and target image, verdict and reason', () => {
    const text = bootImagesText(
      report([
        entry({
          resource: { api: 'cluster.x-k8s.io', kind: 'MachineDeployment', namespace: 'capi', name: 'md' },
          platform: null,
          architecture: null,
          verdict: 'failed',
          image: '',
          target: '',
          stub: { current: '', wanted: '' },
          why: 'its template is gone',
          code: 'SLW_BOOT_IMAGES_TEMPLATE',
        }),
        entry({
          verdict: 'update',
          image: sampleBootImage('1'),
          stub: { current: 'worker-user-data', wanted: 'worker-user-data-managed' },
        }),
        entry({ resource: { ...workerA, name: 'worker-b' } }),
      ]),
    );
    expect(text.replaceAll(/ {3,}/g, '  ')).toBe(
      `MACHINESET  PLATFORM  ARCH  IMAGE  → TARGET  STUB  VERDICT  WHY
openshift-machine-api/worker-a (mapi)  gcp  x86_64  rhcos-1-gcp-x86-64  rhcos-2-gcp-x86-64  worker-user-data → worker-user-data-managed  update  -
openshift-machine-api/worker-b (mapi)  gcp  x86_64  rhcos-2-gcp-x86-64  -  worker-user-data-managed  current  -
capi/md (capi, MachineDeployment)  -  -  -  -  -  failed  its template is gone [SLW_BOOT_IMAGES_TEMPLATE]

Boot images of release 4.22.0.
`,
    );
  });

  it('prints an import once for all resources that need it', () => {
    const toImport = {
      artifact: {
        location: 'https://mirror.example.com/rhcos.qcow2.gz',
        sha256: 'a'.repeat(64),
        uncompressedSha256: 'b'.repeat(64),
        version: '9.8.2-0',
      },
      commands: ['curl x', 'openstack image create y'],
    };
    const manual = { verdict: 'manual', toImport } as const;
    const text = bootImagesText(
      report([entry(manual), entry({ ...manual, resource: { ...workerA, name: 'worker-b' } }), entry()]),
    );
    expect(text.slice(text.indexOf('To import'))).toBe(
      `To import: version 9.8.2-0, for MachineSet openshift-machine-api/worker-a, MachineSet openshift-machine-api/worker-b
  https://mirror.example.com/rhcos.qcow2.gz
  sha256 ${'a'.repeat(64)}
  uncompressed sha256 ${'b'.repeat(64)}
    curl x
    openstack image create y
`,
    );
  });

  it.each([
    [
      'the gate is off',
      { isOn: false, because: 'disabled by FeatureGate cluster' },
      /are off \(disabled by.*customNoUpgrade/,
    ],
    ['the gate is unknown', null, /--feature-gates ManagedBootImages=true/],
  ])('reports that %s', (_, gate, words) => {
    expect(bootImagesText(bootImagesReport(gate, clusterFacts(), [entry()]))).toMatch(words);
  });

  it.each([
    [
      'there is no MachineConfiguration',
      { optIn: null },
      'Nothing is opted in. To opt in, set spec.managedBootImages.machineManagers',
    ],
    [
      'everything is opted out',
      {
        optIn: {
          uid: 'u',
          generation: 1,
          managers: [
            { resource: 'machinesets', apiGroup: 'machine.openshift.io', selection: { mode: 'None' } } as const,
          ],
        },
      },
      'Nothing is opted in',
    ],
    [
      'the ConfigMap is invalid',
      { golden: { type: 'problem', code: 'SLW_BOOT_IMAGES_INVALID', message: 'ConfigMap x: no' } as const },
      'ConfigMap x: no [SLW_BOOT_IMAGES_INVALID]',
    ],
  ])('reports that %s', (_, facts, words) => {
    expect(bootImagesText(report([entry()], facts))).toContain(words);
  });

  it('reports what it waits for', () => {
    const { golden } = clusterFacts();
    if (golden.type !== 'valid') throw new Error('the sample has no boot images');
    const stamp = { type: 'waiting', why: 'ConfigMap x waits for a master', isLate: false } as const;
    const text = bootImagesText(report([entry()], { golden: { ...golden, golden: { ...golden.golden, stamp } } }));
    expect(text).toContain('Not yet: ConfigMap x waits for a master.');
    expect(text).not.toContain('Boot images of release');
  });

  it('reports that an entry for the control plane has no effect', () => {
    const optIn = {
      uid: 'u',
      generation: 1,
      managers: [
        { resource: 'controlplanemachinesets', apiGroup: 'machine.openshift.io', selection: { mode: 'All' } } as const,
      ],
    };
    expect(bootImagesText(report([entry()], { optIn }))).toContain('ControlPlaneMachineSets are not managed');
  });

  it('points to the documentation in a cluster without MachineSets', () => {
    expect(bootImagesText(report([]))).toMatch(/^This cluster has no MachineSet|\nThis cluster has no MachineSet/);
  });

  it('escapes control characters in a spec', () => {
    const text = bootImagesText(report([entry({ image: 'a\u001b[2Jb', why: 'c\nd' })]));
    expect(text).not.toContain('\u001b');
    expect(text).toContain('c\\nd');
  });
});

it.each([
  ['', ''],
  ['ami-0fbc8be8796dc1df5', 'ami-0fbc8be8796dc1df5'],
  ['projects/rhcos-cloud/global/images/rhcos-9-8-20260428-0-gcp-x86-64', 'rhcos-9-8-20260428-0-gcp-x86-64'],
  ['/dc1/vm/demo/demo-rhcos-fd1', 'demo-rhcos-fd1'],
  ['https://mirror.example.com/', 'https://mirror.example.com/'],
  [`x${'y'.repeat(40)}-9.8.20260428-0`, `…${'y'.repeat(32)}-9.8.20260428-0`],
])('%s is %s', (image, short) => {
  expect(shortBootImage(image)).toBe(short);
  expect(shortBootImage(image).length).toBeLessThanOrEqual(48);
});
