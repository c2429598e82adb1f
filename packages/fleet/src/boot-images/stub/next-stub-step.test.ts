import { describe, expect, it } from 'vitest';
import { additions, installer22, installer3, managedStub, OLD_TOKEN, TOKEN } from '../testing/stubs.ts';
import { nextStubStep, type StubFacts, stubReading, stubRole, type StubStep } from './next-stub-step.ts';
import { COPY_OF_ANNOTATION, managedStubName, stubNames, type StubSecret } from './stub-secret.ts';

type Api = StubFacts['api'];
const MACHINE_API = 'machine.openshift.io';
const CLUSTER_API = 'cluster.x-k8s.io';
const ours = { 'app.kubernetes.io/managed-by': 'slipway' };

function buildSecret(stub: unknown, api: Api = MACHINE_API, more: Partial<StubSecret> = {}): StubSecret {
  const text = typeof stub === 'string' ? stub : JSON.stringify(stub);
  const data =
    api === MACHINE_API ? { userData: text, disableTemplating: 'true\n' } : { value: text, format: 'ignition' };
  return { type: 'Opaque', labels: {}, annotations: {}, data, ...more };
}

const buildCopy = (original: string, stub: unknown, api: Api = MACHINE_API): StubSecret =>
  buildSecret(stub, api, { labels: ours, annotations: { [COPY_OF_ANNOTATION]: original } });

/** As a shell gathers them: three reads at most. */
function buildFacts(reference: string, secrets: Record<string, StubSecret>, api: Api = MACHINE_API): StubFacts {
  const names = stubNames(reference, secrets[reference] ?? null);
  const original = secrets[names.original] ?? null;
  const copy = secrets[names.copy] ?? null;
  const role = stubRole(original ?? copy, api);
  const managed = role === null ? null : (secrets[managedStubName(role)] ?? null);
  return { api, namespace: 'machines', reference, names, original, copy, managed };
}

const decideStep = (...given: Parameters<typeof buildFacts>): StubStep => nextStubStep(buildFacts(...given));
const managed = { 'worker-user-data-managed': buildSecret(managedStub(), MACHINE_API, { labels: ours }) };
const customised = { ...installer3(), ...additions };

describe('user data of a machine set', () => {
  it.each([
    ['of spec 3', installer3(), false],
    ['of spec 2', installer22(), true],
    ['that is an old managed one', managedStub('worker', undefined, OLD_TOKEN), false],
  ])('%s from the installer becomes the managed one', (_, stub, needsNewImage) => {
    const step = decideStep('worker-user-data', { ...managed, 'worker-user-data': buildSecret(stub) });
    expect(step).toMatchObject({ type: 'point', wanted: 'worker-user-data-managed', needsNewImage });
  });

  it('is the one of the stub’s pool, whatever its name', () => {
    const infra = { 'infra-user-data-managed': buildSecret(managedStub('infra')) };
    const step = decideStep('my-data', { ...managed, ...infra, 'my-data': buildSecret(installer3('3.2.0', 'infra')) });
    expect(step).toMatchObject({ type: 'point', wanted: 'infra-user-data-managed' });
  });

  it('that is managed already stays', () => {
    expect(decideStep('worker-user-data-managed', managed)).toEqual({
      type: 'keep',
      wanted: 'worker-user-data-managed',
      why: '',
      needsNewImage: false,
    });
  });

  it('that is managed and was changed stays: its controller reverts it', () => {
    const changed = { 'worker-user-data-managed': buildSecret({ ...managedStub(), ...additions }) };
    expect(decideStep('worker-user-data-managed', changed)).toMatchObject({
      type: 'keep',
      wanted: 'worker-user-data-managed',
    });
  });

  it('is ignored if there is none', () => {
    expect(decideStep('', managed)).toMatchObject({ type: 'keep', wanted: '' });
  });

  it('is in the form of Cluster API in Cluster API', () => {
    const secrets = {
      'worker-user-data': buildSecret(installer3(), CLUSTER_API),
      'worker-user-data-managed': buildSecret(managedStub(), CLUSTER_API),
    };
    expect(decideStep('worker-user-data', secrets, CLUSTER_API)).toMatchObject({
      type: 'point',
      wanted: 'worker-user-data-managed',
    });
    expect(decideStep('worker-user-data', secrets, MACHINE_API)).toMatchObject({ type: 'failed' });
  });
});

describe('customised user data', () => {
  const secrets = { ...managed, 'my-data': buildSecret(customised) };

  function copyStep(...given: Parameters<typeof buildFacts>) {
    const step = decideStep(...given);
    if (step.type !== 'copy') throw new Error(`expected a copy, found ${JSON.stringify(step)}`);
    return step;
  }

  it('gets a complete copy, and the original is not touched', () => {
    const { copy, wanted, why } = copyStep('my-data', secrets);
    expect({ wanted, why }).toEqual({
      wanted: 'my-data-slipway',
      why: 'user data my-data is customised: my-data-slipway is a copy of it with the current address, CA and token',
    });
    const { data, ...rest } = copy;
    expect(rest).toEqual({
      name: 'my-data-slipway',
      type: 'Opaque',
      labels: ours,
      annotations: { [COPY_OF_ANNOTATION]: 'my-data' },
    });
    expect(data).toMatchObject({ disableTemplating: 'true\n' });
    expect(JSON.parse(data['userData'] ?? '')).toMatchObject({ ...additions, ignition: { version: '3.2.0' } });
  });

  it('of spec 2 changes only together with the image', () => {
    const old = { ...installer22(), passwd: additions.passwd };
    expect(copyStep('my-data', { ...managed, 'my-data': buildSecret(old) })).toMatchObject({ needsNewImage: true });
  });

  it('in both forms in one Secret has both in the copy', () => {
    const text = JSON.stringify(customised);
    const both = buildSecret('', MACHINE_API, {
      data: { userData: text, disableTemplating: 'true', value: text, format: 'ignition', own: 'x' },
    });
    const { data } = copyStep('my-data', { ...managed, 'my-data': both }).copy;
    expect(data).toEqual({
      userData: data['value'],
      value: data['value'],
      disableTemplating: 'true',
      format: 'ignition',
      own: 'x',
    });
    expect(data['value']).toContain(TOKEN);
  });

  it('copies labels of Cluster API, and none that make a tool adopt it', () => {
    const labels = { 'cluster.x-k8s.io/cluster-name': 'demo', 'app.kubernetes.io/instance': 'argo-app' };
    const secrets = {
      'my-data': buildSecret(customised, CLUSTER_API, { labels, type: 'cluster.x-k8s.io/secret' }),
      'worker-user-data-managed': buildSecret(managedStub(), CLUSTER_API),
    };
    expect(copyStep('my-data', secrets, CLUSTER_API).copy).toMatchObject({
      type: 'cluster.x-k8s.io/secret',
      labels: { 'cluster.x-k8s.io/cluster-name': 'demo', ...ours },
    });
  });

  const made = copyStep('my-data', secrets).copy.data;
  const current = buildSecret('', MACHINE_API, {
    data: made,
    labels: ours,
    annotations: { [COPY_OF_ANNOTATION]: 'my-data' },
  });
  const withCopy = { ...secrets, 'my-data-slipway': current };

  it('points to a copy from an earlier run', () => {
    expect(decideStep('my-data', withCopy)).toMatchObject({ type: 'point', wanted: 'my-data-slipway' });
  });

  it('keeps a copy that is current', () => {
    expect(decideStep('my-data-slipway', withCopy)).toMatchObject({
      type: 'keep',
      wanted: 'my-data-slipway',
      needsNewImage: false,
    });
  });

  it('follows the CA and the token of the managed stub', () => {
    const renewed = { 'worker-user-data-managed': buildSecret(managedStub('worker', undefined, 'bmV3')) };
    const { copy } = copyStep('my-data-slipway', { ...withCopy, ...renewed });
    expect(copy.data['userData']).toContain('Bearer bmV3');
    expect(copy.data['userData']).not.toContain(TOKEN);
  });

  it('follows the original, and changes to the copy are reverted', () => {
    const other = buildSecret({ ...installer3(), passwd: additions.passwd });
    const { copy } = copyStep('my-data-slipway', { ...withCopy, 'my-data': other });
    expect(copy.data['userData']).not.toContain('/etc/motd');
    expect(
      copyStep('my-data-slipway', { ...secrets, 'my-data-slipway': buildCopy('my-data', installer3()) }).copy.data,
    ).toEqual(made);
  });

  it('that is no longer customised moves to the managed one', () => {
    const step = decideStep('my-data-slipway', { ...withCopy, 'my-data': buildSecret(installer3()) });
    expect(step).toMatchObject({ type: 'point', wanted: 'worker-user-data-managed' });
  });

  it('survives in its copy if the original is gone', () => {
    const alone = { ...managed, 'my-data-slipway': current };
    expect(decideStep('my-data-slipway', alone)).toMatchObject({ type: 'keep', wanted: 'my-data-slipway' });
    const renewed = { 'worker-user-data-managed': buildSecret(managedStub('worker', undefined, 'bmV3')) };
    expect(copyStep('my-data-slipway', { ...alone, ...renewed }).copy).toMatchObject({
      annotations: { [COPY_OF_ANNOTATION]: 'my-data' },
    });
  });

  it('gets its copy again if that is gone', () => {
    expect(copyStep('my-data-slipway', secrets).copy).toMatchObject({ name: 'my-data-slipway', data: made });
  });

  it('with a name like our copy is copied like any other', () => {
    const own = { ...managed, 'my-slipway': buildSecret(customised) };
    expect(copyStep('my-slipway', own)).toMatchObject({ wanted: 'my-slipway-slipway' });
  });
});

describe('unusable user data is ignored; the message names the Secret and the problem, and reveals no secret', () => {
  const name = 'worker-user-data';
  it.each<[string, Record<string, StubSecret>, RegExp]>([
    ['no Secret', managed, /^Secret machines\/worker-user-data: expected user data, found no such Secret/],
    [
      'no stub in it',
      { ...managed, [name]: buildSecret('', MACHINE_API, { data: { other: 'hunter2' } }) },
      /key userData, found none/,
    ],
    ['not JSON', { ...managed, [name]: buildSecret('#!/bin/sh hunter2') }, /not valid JSON/],
    [
      'an unknown version',
      { ...managed, [name]: buildSecret({ ignition: { version: '9.9.9' } }) },
      /"9\.9\.9" is not supported/,
    ],
    [
      'no managed stub',
      { [name]: buildSecret(installer3()) },
      /machines\/worker-user-data-managed: expected the managed stub of pool worker, found no such Secret/,
    ],
    [
      'a managed stub with nothing in it',
      { [name]: buildSecret(installer3()), 'worker-user-data-managed': buildSecret('', MACHINE_API, { data: {} }) },
      /found no stub in it/,
    ],
    [
      'a broken managed stub',
      { [name]: buildSecret(customised), 'worker-user-data-managed': buildSecret('{"hunter2":') },
      /managed stub is unusable/,
    ],
    [
      'another client’s Secret with the name of the copy',
      { ...managed, [name]: buildSecret(customised), [`${name}-slipway`]: buildSecret(customised) },
      /machines\/worker-user-data-slipway: expected Slipway.s copy/,
    ],
    [
      'two different stubs',
      { ...managed, [name]: buildSecret('', MACHINE_API, { data: { userData: '{}', value: '[]' } }) },
      /different stubs/,
    ],
    ['a long name', { ...managed, ['a'.repeat(250)]: buildSecret(customised) }, /too long/],
  ])('%s', (_, secrets, message) => {
    const reference = Object.keys(secrets).find((each) => each.startsWith('aaa')) ?? name;
    const step = decideStep(reference, secrets);
    expect(step).toMatchObject({
      type: 'failed',
      code: 'SLW_BOOT_IMAGES_STUB',
      message: expect.stringMatching(message),
    });
    expect(JSON.stringify(step)).not.toMatch(/hunter2|verysecret/);
    expect(JSON.stringify(step)).not.toContain(TOKEN);
  });

  it('of Cluster API: cloud-config', () => {
    const secrets = {
      'worker-user-data': buildSecret('', CLUSTER_API, {
        data: { value: JSON.stringify(installer3()), format: 'cloud-config' },
      }),
      'worker-user-data-managed': buildSecret(managedStub(), CLUSTER_API),
    };
    expect(decideStep('worker-user-data', secrets, CLUSTER_API)).toMatchObject({
      type: 'failed',
      message: expect.stringMatching(/format: expected ignition/),
    });
  });
});

describe('our server on another port', () => {
  const server = 'https://boot.example.com';
  const here = { 'worker-user-data-managed': buildSecret(managedStub('worker', server)) };
  it('is known by the managed stub', () => {
    expect(decideStep('a', { ...here, a: buildSecret(installer3('3.2.0', 'worker', server)) })).toMatchObject({
      type: 'point',
    });
    expect(
      decideStep('a', { ...here, a: buildSecret({ ...installer3('3.2.0', 'worker', server), ...additions }) }),
    ).toMatchObject({ type: 'copy' });
  });
  it('and another server is not', () => {
    expect(
      decideStep('a', { ...here, a: buildSecret(installer3('3.2.0', 'worker', 'https://files.example.com')) }),
    ).toMatchObject({ type: 'failed' });
  });
});

describe('for the decision about a resource', () => {
  it('a step is a reading', () => {
    expect(stubReading('a', { type: 'point', wanted: 'b', why: 'c', needsNewImage: true })).toEqual({
      ok: true,
      current: 'a',
      wanted: 'b',
      note: 'c',
      needsNewImage: true,
    });
    expect(stubReading('a', { type: 'failed', code: 'SLW_BOOT_IMAGES_STUB', message: 'c' })).toEqual({
      ok: false,
      current: 'a',
      message: 'c',
    });
  });
});
