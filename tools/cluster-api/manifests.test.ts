import { expect, it } from 'vitest';
import { readProviderManifests } from './manifests.ts';

const text = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: machines.cluster.x-k8s.io
spec:
  versions:
    - { name: v1alpha4 }
    - { name: v1beta1 }
    - { name: v1beta2 }
---
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: mutating
webhooks:
  - name: default.machine
    failurePolicy: Fail
    clientConfig:
      service: { name: webhook-service, namespace: system, path: /mutate-machine }
`;

it('webhooks are called at the address of the manager, and CRDs name the versions that keep a contract', () => {
  const read = readProviderManifests(text, 'cluster-api', { url: 'https://127.0.0.1:1', authority: 'PEM' });
  const caBundle = Buffer.from('PEM').toString('base64');
  expect(read.crds).toMatchObject([
    {
      metadata: {
        name: 'machines.cluster.x-k8s.io',
        labels: {
          'cluster.x-k8s.io/provider': 'cluster-api',
          'cluster.x-k8s.io/v1beta1': 'v1beta1',
          'cluster.x-k8s.io/v1beta2': 'v1beta2',
        },
      },
      spec: {
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: 'https://127.0.0.1:1/convert', caBundle }, conversionReviewVersions: ['v1'] },
        },
      },
    },
  ]);
  expect(read.webhooks).toEqual([
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'cluster-api-mutating' },
      webhooks: [
        {
          name: 'default.machine',
          failurePolicy: 'Fail',
          clientConfig: { url: 'https://127.0.0.1:1/mutate-machine', caBundle },
        },
      ],
    },
  ]);
});
