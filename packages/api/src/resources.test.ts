import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as api from './index.ts';
import * as light from './resources.ts';
import type { Kind, Resource } from './index.ts';

const isResource = (value: unknown): value is Resource<unknown> =>
  typeof value === 'object' && value !== null && 'version' in value && 'plural' in value;

/** The schemas of built-in kinds are in the server. */
const ofKubernetes = new Set(['', 'apiextensions.k8s.io', 'policy']);
const resources = Object.values(api)
  .filter((value) => isResource(value))
  .filter(({ group }) => !ofKubernetes.has(group));

const findKind = ({ group, plural }: Resource<unknown>): Kind | undefined =>
  api.kinds.find((kind) => kind.group === group && kind.plural === plural);

describe('the resources that controllers use', () => {
  it('include one for each kind', () => {
    expect(new Set(resources.map((resource) => findKind(resource)))).toStrictEqual(new Set(api.kinds));
    expect(resources).toHaveLength(api.kinds.length);
  });

  it.each(resources.map((resource) => ({ title: `${resource.plural}.${resource.group}`, resource })))(
    '$title is served in the version that controllers use, v1 if it exists',
    ({ resource }) => {
      const served = findKind(resource)?.versions.map(({ name }) => name) ?? [];
      expect(served).toContain(resource.version);
      expect(resource.version).toBe(served.includes('v1') ? 'v1' : served[0]);
    },
  );
});

/** The packages that a file loads. Type-only imports load nothing. */
function packagesBehind(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const loads = /^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm;
  return [...readFileSync(file, 'utf8').matchAll(loads)].flatMap(([, name = '']) =>
    name.startsWith('.') ? packagesBehind(join(dirname(file), name), seen) : [name],
  );
}

describe('the resources and names for daemons', () => {
  it.each(['resources.ts', 'machineconfiguration/names.ts'])('%s: no schemas are loaded', (file) => {
    expect(packagesBehind(join(import.meta.dirname, 'index.ts'))).toContain('typebox');
    expect(packagesBehind(join(import.meta.dirname, file))).toStrictEqual([]);
  });

  it('equal those with schemas', () => {
    expect(Object.entries(light).length).toBeGreaterThan(0);
    expect(api).toMatchObject({ ...light });
  });
});
