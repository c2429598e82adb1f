import { problemsOf } from './check.ts';
import type { Kind } from './kind.ts';
import { isObject, prepareFields } from './prepare.ts';
import { show, type Problem } from './problem.ts';

export type Validated<T> = { ok: true; object: T } | { ok: false; problems: Problem[] };

const failed = (path: string, message: string): { ok: false; problems: Problem[] } => ({
  ok: false,
  problems: [{ path, message }],
});

function headerProblem(kind: Kind, value: Record<string, unknown>): Problem | undefined {
  if (value['kind'] !== kind.kind) {
    return { path: 'kind', message: `must be ${kind.kind}, not ${show(value['kind'])}` };
  }
  const name = isObject(value['metadata']) ? value['metadata']['name'] : undefined;
  if (typeof name !== 'string' || name === '') {
    return { path: 'metadata.name', message: `must be the name of the object, not ${show(name)}` };
  }
  return undefined;
}

/**
 * Says what is wrong with an object of a kind, or gives it typed and as kube-apiserver would store it: unknown fields
 * dropped, defaults filled in. Never throws. Rules that compare with the stored object are left to the server, as is
 * metadata beside the name.
 */
export function validate<T>(kind: Kind<T>, value: unknown): Validated<T> {
  if (!isObject(value)) return failed('', `must be an object of kind ${kind.kind}, not ${show(value)}`);
  const { apiVersion, kind: _, metadata, ...fields } = value;
  const version = kind.versions.find(({ name }) => apiVersion === `${kind.group}/${name}`);
  if (version === undefined) {
    const known = kind.versions.map(({ name }) => `${kind.group}/${name}`).join(' or ');
    return failed('apiVersion', `must be ${known}, not ${show(apiVersion)}`);
  }
  const header = headerProblem(kind, value);
  const object = { apiVersion, kind: kind.kind, metadata, ...prepareFields(version.schema, fields) };
  const problems = [...(header === undefined ? [] : [header]), ...problemsOf(version.schema, object)];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, object: object as T };
}
