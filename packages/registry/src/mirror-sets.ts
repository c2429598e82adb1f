import { describeKind, isRecord } from '@slipway/base/json';
import { quote } from '@slipway/base/text';
import { RegistryError } from './errors.ts';
import { isHostPattern, isScope, lowerHost } from './reference.ts';
import type { MirrorRule } from './registry.ts';

const MAX_ENTRIES = 1000;

const kinds: Readonly<Record<string, { field: string; for: MirrorRule['for'] }>> = {
  ImageDigestMirrorSet: { field: 'imageDigestMirrors', for: 'digests' },
  ImageTagMirrorSet: { field: 'imageTagMirrors', for: 'tags' },
};

/** The rules of ImageDigestMirrorSet and ImageTagMirrorSet objects, in their order. */
export function parseMirrorSets(objects: readonly unknown[]): readonly MirrorRule[] {
  if (objects.length > MAX_ENTRIES)
    throw refuse('mirror sets', `expected at most ${MAX_ENTRIES}, found ${objects.length}`);
  return objects.flatMap((object, index) => parseMirrorSet(object, `mirror set ${index}`));
}

function parseMirrorSet(object: unknown, fallbackName: string): MirrorRule[] {
  if (!isRecord(object)) throw refuse(fallbackName, `expected an object, found ${describeKind(object)}`);
  const name = describeObject(object) ?? fallbackName;
  const kind = kinds[String(object['kind'])];
  if (kind === undefined) {
    throw refuse(name, `kind: expected ${Object.keys(kinds).join(' or ')}, found ${quote(String(object['kind']), 50)}`);
  }
  const at = `spec.${kind.field}`;
  const spec = object['spec'] ?? {};
  if (!isRecord(spec)) throw refuse(name, `spec: expected an object, found ${describeKind(spec)}`);
  return readList(spec[kind.field], name, at).map((entry, index) => readRule(entry, kind.for, name, `${at}[${index}]`));
}

function readRule(entry: unknown, answers: MirrorRule['for'], name: string, at: string): MirrorRule {
  if (!isRecord(entry)) throw refuse(name, `${at}: expected an object, found ${describeKind(entry)}`);
  const source = readScope(entry['source'], name, `${at}.source`, true);
  const mirrors = readList(entry['mirrors'], name, `${at}.mirrors`).map((mirror, index) => ({
    location: readScope(mirror, name, `${at}.mirrors[${index}]`, false),
    plainHttp: false,
  }));
  return { source, mirrors, fallback: fallbackIn(entry, name, at), for: answers, blocked: false };
}

function fallbackIn(entry: Record<string, unknown>, name: string, at: string): boolean {
  const policy = entry['mirrorSourcePolicy'] ?? 'AllowContactingSource';
  if (policy === 'AllowContactingSource') return true;
  if (policy === 'NeverContactSource') return false;
  const found = typeof policy === 'string' ? quote(policy, 50) : describeKind(policy);
  throw refuse(name, `${at}.mirrorSourcePolicy: expected NeverContactSource or AllowContactingSource, found ${found}`);
}

function readList(value: unknown, name: string, at: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw refuse(name, `${at}: expected a list, found ${describeKind(value)}`);
  if (value.length > MAX_ENTRIES)
    throw refuse(name, `${at}: expected at most ${MAX_ENTRIES} entries, found ${value.length}`);
  return value;
}

function readScope(value: unknown, name: string, at: string, pattern: boolean): string {
  if (typeof value !== 'string') throw refuse(name, `${at}: expected text, found ${describeKind(value)}`);
  const scope = lowerHost(value);
  if (isScope(scope) || (pattern && isHostPattern(scope))) return scope;
  throw refuse(name, `${at}: expected a host, or a host and a path without a tag, found ${quote(value, 100)}`);
}

function describeObject(object: Record<string, unknown>): string | undefined {
  const { kind, metadata } = object;
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string') return undefined;
  return `${String(kind)} ${metadata['name']}`;
}

const refuse = (what: string, why: string): RegistryError =>
  new RegistryError('SLW_REGISTRY_MIRRORS', `${what}: ${why}`);
