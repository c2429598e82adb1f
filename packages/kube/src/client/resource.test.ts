import { describe, expect, it } from 'vitest';
import { formatApiVersion, isStored, keyOf, parseKey, buildApiPath, resourceId } from './resource.ts';
import type { Resource } from './resource.ts';

const pods: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const leases: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

describe('resource', () => {
  it.each<[string, Resource, Parameters<typeof buildApiPath>[1], string]>([
    ['all of a core kind', pods, {}, '/api/v1/pods'],
    ['those of a namespace', pods, { namespace: 'n' }, '/api/v1/namespaces/n/pods'],
    ['one', pods, { namespace: 'n', name: 'a' }, '/api/v1/namespaces/n/pods/a'],
    ['a part of one', pods, { namespace: 'n', name: 'a', subresource: 'status' }, '/api/v1/namespaces/n/pods/a/status'],
    ['a kind of a group', leases, { name: 'a' }, '/apis/coordination.k8s.io/v1/leases/a'],
    [
      'a name that would lead elsewhere',
      pods,
      { namespace: '../x', name: 'a/../b?c' },
      '/api/v1/namespaces/..%2Fx/pods/a%2F..%2Fb%3Fc',
    ],
  ])('the path of %s', (_, resource, options, path) => expect(buildApiPath(resource, options)).toBe(path));

  it('names its API version and itself', () => {
    expect([formatApiVersion(pods), formatApiVersion(leases)]).toEqual(['v1', 'coordination.k8s.io/v1']);
    expect([resourceId(pods), resourceId(leases)]).toEqual(['pods', 'leases.coordination.k8s.io']);
  });

  it.each([{ name: 'a' }, { namespace: 'n', name: 'a' }])('a key and its name are the same: %o', (name) => {
    expect(parseKey(keyOf({ metadata: name }))).toEqual(name);
  });

  it.each<[object | null | undefined, boolean]>([
    [{ metadata: { name: 'a', uid: 'u', resourceVersion: '1' } }, true],
    [{ metadata: { name: 'a', uid: 'u', resourceVersion: '' } }, false],
    [{ metadata: { name: 'a', resourceVersion: '1' } }, false],
    [{ metadata: null }, false],
    [{}, false],
    [null, false],
    [undefined, false],
  ])('%o comes from the API: %s', (object, expected) => expect(isStored(object)).toBe(expected));
});
