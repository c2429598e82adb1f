// The verdict on one object of a manifest file.
import { type Kind, machineConfigKind, RENDERED_PREFIX } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { remoteReferences } from '@slipway/fleet';
import { checkObject, type Finding, isOfKind } from '@slipway/fleet/check';
import { type ManifestDocument, placeFinding, type PlacedFinding } from './manifest-document.ts';

export interface DocumentVerdict {
  readonly kind: Kind;
  /** Such as `MachineConfig 99-worker-chrony`. */
  readonly name: string;
  readonly findings: readonly PlacedFinding[];
  /** Parts of it can only be checked by fetching them. */
  readonly hasRemoteContent: boolean;
}

/** Null: Slipway has no such kind. */
export async function checkDocument(document: ManifestDocument): Promise<DocumentVerdict | null> {
  const { value } = document;
  const rendered = findRendered(value);
  if (rendered !== null) {
    const findings = [placeFinding(document, rendered)];
    return { kind: machineConfigKind, name: rendered.object, findings, hasRemoteContent: false };
  }
  const checked = await checkObject(value);
  if (checked === null) return null;
  const own = withoutRemote(value, checked.findings);
  return {
    kind: checked.kind,
    name: checked.name,
    findings: own.map((finding) => placeFinding(document, finding)),
    hasRemoteContent: own.length < checked.findings.length,
  };
}

/** Only the render controller may write rendered MachineConfigs; a dump of a cluster has them. */
function findRendered(value: unknown): Finding | null {
  const { metadata } = isRecord(value) ? value : {};
  const { name, resourceVersion } = isRecord(metadata) ? metadata : {};
  if (!isOfKind(machineConfigKind, value) || typeof name !== 'string' || !name.startsWith(RENDERED_PREFIX)) return null;
  const object = `${machineConfigKind.kind} ${name.slice(0, 253)}`;
  const message = `${object} is rendered: it is a result, and only the render controller writes it. Leave it out`;
  const severity = resourceVersion === undefined ? 'error' : 'warning';
  return { severity, code: 'SLW_CLI_FOREIGN', object, field: '', message };
}

/** References to remote content are no errors: the controllers, render and plan fetch it, with http and https. */
function withoutRemote(value: unknown, findings: readonly Finding[]): readonly Finding[] {
  if (findings.every(({ code }) => code !== 'SLW_RENDER_REMOTE')) return findings;
  const spec = isRecord(value) && isRecord(value['spec']) ? value['spec'] : {};
  const fetched = new Set(
    remoteReferences(spec['config'])
      .filter(({ source }) => /^https?:$/.test(URL.parse(source)?.protocol ?? ''))
      .map(({ path }) => `spec.config.${path}`),
  );
  return findings.filter(({ code, field }) => code !== 'SLW_RENDER_REMOTE' || !fetched.has(field));
}
