import type { StubSecret } from '@slipway/fleet/boot-images';
import { additions, installer3, managedStub } from '@slipway/fleet/boot-images/testing';
import { expect, it } from 'vitest';
import { createUserDataReader, type SecretsView } from './user-data.ts';

const stub = (content: object, labels = {}): StubSecret => ({
  type: 'Opaque',
  labels,
  annotations: {},
  data: { userData: JSON.stringify(content), disableTemplating: 'true' },
});
const scope = { api: 'machine.openshift.io', namespace: 'machines' } as const;

/** Secrets that a test changes; `onFetch` runs before a Secret is answered. */
function holdSecrets(onFetch: (name: string) => void = () => {}) {
  const held = new Map([
    ['worker-user-data', { version: '1', secret: stub(installer3()) }],
    [
      'worker-user-data-managed',
      { version: '2', secret: stub(managedStub(), { 'app.kubernetes.io/managed-by': 'slipway' }) },
    ],
  ]);
  const fetched: string[] = [];
  const view: SecretsView = {
    version: (name) => held.get(name)?.version ?? '',
    async fetch(name) {
      fetched.push(name);
      onFetch(name);
      return held.get(name)?.secret ?? null;
    },
  };
  return { held, view, fetched };
}

const wanted = async (reading: Promise<{ reading: object }>): Promise<unknown> => (await reading).reading;

it('a Secret is read once for each version that the watch has seen', async () => {
  const { held, view, fetched } = holdSecrets();
  const { read } = createUserDataReader();
  for (let turn = 0; turn < 3; turn += 1)
    expect(await wanted(read(scope, 'worker-user-data', view))).toMatchObject({ wanted: 'worker-user-data-managed' });
  expect(fetched).toEqual(['worker-user-data', 'worker-user-data-managed']);
  held.set('worker-user-data', { version: '3', secret: stub({ ...installer3(), ...additions }) });
  expect(await wanted(read(scope, 'worker-user-data', view))).toMatchObject({ wanted: 'worker-user-data-slipway' });
  expect(fetched).toEqual(['worker-user-data', 'worker-user-data-managed', 'worker-user-data']);
});

it('a Secret that changes while another one is read is evaluated again', async () => {
  const { held, view } = holdSecrets((name) => {
    if (name === 'worker-user-data-managed')
      held.set('worker-user-data', { version: '3', secret: stub({ ...installer3(), ...additions }) });
  });
  const { read } = createUserDataReader();
  expect(await wanted(read(scope, 'worker-user-data', view))).toMatchObject({ wanted: 'worker-user-data-managed' });
  expect(await wanted(read(scope, 'worker-user-data', view))).toMatchObject({ wanted: 'worker-user-data-slipway' });
});
