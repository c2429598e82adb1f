// Templates cannot be changed: another image is another template, named after what is in it.
import { clonedFromAnnotation } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { managedByLabel } from '../../kube-object.ts';
import { canonicalJson } from '../../render/rendered-name.ts';
import { isJsonObject, objectAt } from '../json-path.ts';
import type { Json, JsonObject } from '../verdict.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface MachineTemplate {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly OwnerReference[];
  };
  readonly spec: JsonObject;
}

/** On a template that we made: a digest of what we put into it; a server may add defaults to that. */
export const templateDigestAnnotation = 'slipway.dev/template-digest';

const us = 'slipway';
const DIGITS = 8;
const LONGEST_NAME = 253;
const DNS_NAME = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;

/** By these a tool knows what it has made itself, and takes away what it has not. */
const TOOLS =
  /^(?:argocd\.argoproj\.io|[a-z]+\.toolkit\.fluxcd\.io|(?:meta\.)?helm\.sh|kubectl\.kubernetes\.io|kapp\.k14s\.io)\/|^app\.kubernetes\.io\/(?:instance|managed-by)$|^slipway\.dev\//;

/** `spec`: what spec.template.spec shall be. What is asked for twice has the same name twice. */
export function cloneTemplate(template: MachineTemplate, spec: JsonObject): MachineTemplate {
  const { apiVersion, kind, metadata } = template;
  const whole = { ...template.spec, template: { ...objectAt(template.spec, 'template'), spec } };
  const digest = sha256(canonicalJson({ kind, spec: whole }));
  const base = originalName(template);
  const owners = (metadata.ownerReferences ?? []).filter(isCluster);
  return {
    apiVersion,
    kind,
    metadata: {
      name: nameOf(base, digest.slice(0, DIGITS)),
      namespace: metadata.namespace,
      labels: { ...withoutTools(metadata.labels), [managedByLabel]: us },
      annotations: {
        ...withoutTools(metadata.annotations),
        [clonedFromAnnotation]: base,
        [templateDigestAnnotation]: digest,
      },
      ...(owners.length > 0 && { ownerReferences: owners }),
    },
    spec: whole,
  };
}

/** A clone of a clone is one of the first: names do not grow. */
function originalName({ metadata }: MachineTemplate): string {
  const from = metadata.annotations?.[clonedFromAnnotation] ?? '';
  return isOurTemplate({ metadata }) && DNS_NAME.test(from) ? from : metadata.name;
}

const nameOf = (base: string, digits: string): string =>
  `${base.slice(0, LONGEST_NAME - DIGITS - 1).replace(/[-.]+$/, '')}-${digits}`;

export const isOurTemplate = ({ metadata: { labels } }: Pick<MachineTemplate, 'metadata'>): boolean =>
  labels?.[managedByLabel] === us;

const isCluster = ({ apiVersion, kind }: OwnerReference): boolean =>
  kind === 'Cluster' && apiVersion.startsWith('cluster.x-k8s.io/');

const withoutTools = (all: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !TOOLS.test(name)));

/** Whether what is there under the name of a clone is that clone: ours, from the same content, and nothing of it changed. */
export const isSameClone = (existing: MachineTemplate, clone: MachineTemplate): boolean =>
  isOurTemplate(existing) &&
  existing.metadata.annotations?.[templateDigestAnnotation] ===
    clone.metadata.annotations?.[templateDigestAnnotation] &&
  holds(existing.spec, clone.spec);

/** All of `some`, whatever defaults a server has added to it. */
function holds(all: Json | undefined, some: Json): boolean {
  if (Array.isArray(some)) {
    return Array.isArray(all) && all.length === some.length && some.every((item, at) => holds(all[at], item));
  }
  // A server leaves out what is null.
  if (some === null) return all === null || all === undefined;
  if (!isJsonObject(some)) return all === some;
  return (
    isJsonObject(all) &&
    Object.entries(some).every(([key, value]) => holds(Object.hasOwn(all, key) ? all[key] : undefined, value))
  );
}
