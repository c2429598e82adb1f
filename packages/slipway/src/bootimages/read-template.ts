// The infrastructure templates that machines of Cluster API are made from. Nothing here writes.
import {
  type ClusterApiContext,
  type ClusterApiMachines,
  infrastructureGroup,
  type InfrastructureTemplate,
  type MachineReading,
  type MachineResource,
  readTemplate,
  referenceOf,
  templateKind,
  templateQuestion,
  templatesOf,
} from '@slipway/fleet/boot-images';
import type { Client, Resource, Stored } from '@slipway/kube';
import { findWhereKnown } from '../cluster-view/find-where-known.ts';

const crds: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

type Labels = Readonly<Record<string, string>>;

export interface ReadMachines {
  readonly machine: MachineReading;
  /** Null: it is not there, or cannot be read. */
  readonly template: {
    readonly resource: Resource<InfrastructureTemplate>;
    readonly object: Stored<InfrastructureTemplate>;
  } | null;
}

/** Providers say on their CRDs which versions they keep: each kind is asked for once. */
export function createTemplateReader(client: Client, context: ClusterApiContext) {
  const known = new Map<string, Labels>();

  async function labelsOf(plural: string): Promise<Labels> {
    const crd = known.has(plural) ? undefined : await client.find(crds, { name: `${plural}.${infrastructureGroup}` });
    const labels = known.get(plural) ?? crd?.metadata.labels ?? {};
    known.set(plural, labels);
    return labels;
  }

  return async (resource: MachineResource, machines: ClusterApiMachines): Promise<ReadMachines> => {
    const read = referenceOf(resource, machines);
    const labels = read.ok ? await labelsOf(templateKind(read.reference.kind).plural) : {};
    const question = templateQuestion(read, () => labels);
    if (!question.ok) return { machine: question.reading, template: null };
    const templates = templatesOf(question.reference.kind, question.version);
    const object = await findWhereKnown(client, templates, question.reference);
    const machine = readTemplate(machines, question, object, context);
    return { machine, template: object === undefined ? null : { resource: templates, object } };
  };
}
