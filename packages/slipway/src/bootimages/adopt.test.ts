import { entry, workerA } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { adoptionText, chooseAdoptions, selectUseful } from './adopt.ts';

const resource = (name: string, more: Partial<typeof workerA> = {}) => ({ ...workerA, name, ...more });
const capi = { api: 'cluster.x-k8s.io', namespace: 'openshift-cluster-api' } as const;
const entries = [
  { resource: resource('known'), isUnknown: false },
  { resource: resource('old-a'), isUnknown: true },
  { resource: resource('old-b'), isUnknown: true },
  { resource: resource('old-b', capi), isUnknown: true },
  { resource: resource('md', { ...capi, kind: 'MachineDeployment' }), isUnknown: true },
];

describe('adopted are', () => {
  it.each([
    ['all MachineSets with an unknown image', [], {}, ['old-a', 'old-b', 'old-b']],
    ['those of one API', [], { api: 'capi' } as const, ['old-b']],
    ['those of one namespace', [], { namespace: workerA.namespace }, ['old-a', 'old-b']],
    ['others only by name', ['md', 'known'], {}, ['md', 'known']],
  ])('%s', (_, names, which, expected) => {
    expect(chooseAdoptions(names, which, entries).map(({ name }) => name)).toEqual(expected);
  });

  it.each([
    ['that does not exist', ['nobody'], /there is no MachineSet or MachineDeployment "nobody"/],
    ['of two', ['old-b'], /is ambiguous/],
  ])('none by a name %s', (_, names, words) => {
    expect(() => chooseAdoptions(names, {}, entries)).toThrow(words);
  });
});

describe('left out are', () => {
  const md = resource('md', { ...capi, kind: 'MachineDeployment' });
  const before = [entry({ resource: md, isUnknown: true })];
  const failing = entry({ verdict: 'failed', why: 'no image for the region', code: 'SLW_BOOT_IMAGES_REGION' });
  const fine = entry({ resource: resource('worker-b'), verdict: 'update' });
  const machines = { machineDeployments: [] };

  it('MachineSets that could not be updated then, and MachineDeployments', () => {
    expect(selectUseful([], { before, after: [failing, fine] }, machines)).toEqual({
      resources: [fine],
      notes: [
        'MachineSet openshift-machine-api/worker-a is not adopted, because it could not be updated: no image for the region [SLW_BOOT_IMAGES_REGION]',
        'MachineDeployment openshift-cluster-api/md has an unknown image too. It replaces its machines when its image changes, so adopt it by name: slipway bootimages adopt md',
      ],
    });
  });

  it('none of those that are named, and a MachineDeployment is explained', () => {
    const after = [failing, entry({ resource: md, verdict: 'update' })];
    expect(selectUseful(['worker-a', 'md'], { before, after }, machines)).toEqual({
      resources: after,
      notes: [
        'MachineDeployment openshift-cluster-api/md: existing machines are replaced gradually (strategy RollingUpdate)',
      ],
    });
  });
});

describe('the plan', () => {
  it('has each image with its target and what happens then, and says what to check', () => {
    const text = adoptionText({
      resources: [entry({ platform: 'aws', verdict: 'update', image: 'ami-old', target: 'ami-new' })],
      notes: ['MachineDeployment capi/md: existing machines are replaced gradually'],
    });
    expect(text.replaceAll(/ {3,}/g, '  ')).toBe(
      `MACHINESET  IMAGE  → TARGET  THEN  WHY
openshift-machine-api/worker-a (mapi)  ami-old  ami-new  update  -
Check first that releases shipped these images: Slipway replaces any image of what is adopted. See docs/boot-images/aws.md.
MachineDeployment capi/md: existing machines are replaced gradually
`,
    );
  });

  it('is empty if there is nothing to adopt', () => {
    expect(adoptionText({ resources: [], notes: [] })).toBe('');
  });
});
