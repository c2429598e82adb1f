// Infrastructure templates of Cluster API, for every kind and version, with the expected verdict and the expected
// template afterwards. Written by hand, not by the rules.
import { INFRASTRUCTURE_GROUP, type MachineTemplate } from '../cluster-api.ts';
import type { ImageQuestion } from '../verdict.ts';
import { buildImageQuestion } from './image-cases.ts';
import { INFRASTRUCTURE_NAME } from './provider-specs.ts';
import { rhel9, type StreamVersions } from './stream-metadata.ts';
import { awsTemplateCases } from './template-cases/aws.ts';
import { azureTemplateCases } from './template-cases/azure.ts';
import { gcpTemplateCases } from './template-cases/gcp.ts';
import { importedTemplateCases } from './template-cases/imported.ts';
import { metal3TemplateCases } from './template-cases/metal3.ts';
import type { TemplateCase } from './template-cases/template-case.ts';

export type { TemplateCase } from './template-cases/template-case.ts';

const CLUSTER_API_NAMESPACE = 'openshift-cluster-api';
/** What templates do not specify: the same for all cases. */
export const TEMPLATE_REGION = 'us-east-1';

/** Against stream rhel-9, with the images of the release before known. */
export const templateCases: readonly TemplateCase[] = [
  ...awsTemplateCases,
  ...gcpTemplateCases,
  ...azureTemplateCases,
  ...metal3TemplateCases,
  ...importedTemplateCases,
];

export const buildTemplateQuestion = (
  { name, architecture = 'x86_64', isAdopted = false }: TemplateCase,
  versions: StreamVersions = rhel9,
): ImageQuestion => ({
  ...buildImageQuestion({ name, architecture, isAdopted }, versions),
  resource: { api: 'cluster.x-k8s.io', kind: 'MachineSet', namespace: CLUSTER_API_NAMESPACE, name },
});

/** As a provider and Cluster API write it, with marks of a tool that manages it. */
export const buildMachineTemplate = ({ name, kind, apiVersion, spec }: TemplateCase): MachineTemplate => ({
  apiVersion: `${INFRASTRUCTURE_GROUP}/${apiVersion}`,
  kind,
  metadata: {
    name,
    namespace: CLUSTER_API_NAMESPACE,
    labels: { 'cluster.x-k8s.io/cluster-name': INFRASTRUCTURE_NAME, 'app.kubernetes.io/instance': 'machines' },
    annotations: { 'example.com/team': 'a', 'argocd.argoproj.io/tracking-id': `machines:${kind}:${name}` },
    ownerReferences: [
      {
        apiVersion: 'cluster.x-k8s.io/v1beta1',
        kind: 'Cluster',
        name: INFRASTRUCTURE_NAME,
        uid: '6f1c7b7e-5a3d-4f0e-9d83-2b8f3f6c1a10',
      },
    ],
  },
  spec: { template: { metadata: { labels: { tier: 'compute' } }, spec } },
});
