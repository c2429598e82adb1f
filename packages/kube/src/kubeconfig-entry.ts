import { dirname, resolve } from 'node:path';
import { KubeError } from './errors.ts';

/** One entry of clusters, users or contexts, together with the file it stands in (paths in it are relative to that). */
export interface Entry {
  file: string;
  at: string;
  value: Record<string, unknown>;
}

export const beside = (file: string, path: string): string => resolve(dirname(file), path);

export function objectAt(file: string, at: string, value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw wrong({ file, at, value: {} }, '', 'an object', kindOf(value));
}

export function listAt(entry: Entry, field: string): unknown[] {
  const value = entry.value[field];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw wrong(entry, field, 'a list', kindOf(value));
}

export function stringAt(entry: Entry, field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw wrong(entry, field, 'a string', kindOf(value));
}

export const stringField = (entry: Entry, field: string): string => stringAt(entry, field, entry.value[field]);

export function optionalString(entry: Entry, field: string): string | undefined {
  const value = entry.value[field];
  return value === undefined || value === null || value === '' ? undefined : stringAt(entry, field, value);
}

export function pemField(entry: Entry, field: string, base64: string): string {
  const pem = Buffer.from(base64, 'base64').toString('utf8');
  if (pem.includes('-----BEGIN ')) return pem;
  throw wrong(entry, field, 'base64 of PEM data', 'something else');
}

const kindOf = (value: unknown): string => {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

export const wrong = (entry: Entry, field: string, expected: string, found: string): KubeError =>
  invalid(
    entry.file,
    `${[entry.at, field].filter(Boolean).join('.') || 'the file'}: expected ${expected}, found ${found}`,
  );

export const invalid = (file: string, what: string): KubeError =>
  new KubeError('SLW_KUBE_CONFIG_INVALID', `kubeconfig ${file}: ${what}`);
