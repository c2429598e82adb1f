import { describe, expect, it } from 'vitest';
import { daemonAccess } from './rbac.ts';

const rules = daemonAccess('ours').flatMap((object) => ('rules' in object ? object.rules : []));
const verbsOn = (resource: string): string[] =>
  [...new Set(rules.filter(({ resources }) => resources.includes(resource)).flatMap(({ verbs }) => verbs))].sort();

describe('the permissions of a daemon', () => {
  it.each([
    ['nodes', ['get', 'list', 'patch', 'watch']],
    ['machineconfigs', ['get']],
    ['pinnedimagesets', ['get']],
    ['machineconfignodes', ['get', 'list', 'watch']],
    ['machineconfignodes/status', ['patch']],
    ['machineconfigurations', ['get']],
    ['events', ['create', 'patch']],
  ])('on %s: %j', (resource, verbs) => {
    expect(verbsOn(resource)).toEqual(verbs);
  });

  it('include nothing else', () => {
    expect(new Set(rules.flatMap(({ resources }) => resources)).size).toBe(7);
    expect(JSON.stringify(rules)).not.toContain('*');
  });

  it('are bound to the ServiceAccount of the configured namespace, and to kubelets', () => {
    const subjects = daemonAccess('elsewhere').flatMap((object) => ('subjects' in object ? object.subjects : []));
    expect(subjects).toEqual([
      { kind: 'ServiceAccount', name: 'machine-config-daemon', namespace: 'elsewhere' },
      { kind: 'ServiceAccount', name: 'machine-config-daemon', namespace: 'elsewhere' },
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' },
    ]);
  });

  it('bind only roles that exist', () => {
    const objects = daemonAccess();
    const roles = objects.flatMap((object) => ('rules' in object ? [`${object.kind} ${object.metadata.name}`] : []));
    const bound = objects.flatMap((object) =>
      'roleRef' in object ? [`${object.roleRef.kind} ${object.roleRef.name}`] : [],
    );
    expect(bound.sort()).toEqual(roles.sort());
  });
});
