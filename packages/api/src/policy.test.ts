import { describe, expect, it } from 'vitest';
import { exemptIdentities } from './identity.ts';
import { policies } from './policies.ts';
import { buildPolicyObjects, type PolicyDefinition } from './policy.ts';

const definition: PolicyDefinition = {
  name: 'example',
  description: 'An example.',
  resource: { group: 'example.com', version: 'v1', plural: 'things' },
  operations: ['CREATE'],
  exempt: [{ user: 'robot' }, { group: 'robots' }],
  validations: [{ expression: 'true', message: 'never' }],
};

describe('a policy', () => {
  it('checks its exemptions first', () => {
    const [policy] = buildPolicyObjects(definition);
    expect(policy.spec.matchConditions[0]?.expression).toBe(
      ["!(request.userInfo.username in ['robot'])", "!('robots' in request.userInfo.?groups.orValue([]))"].join(' && '),
    );
  });

  it('denies with Forbidden, and is bound to the whole cluster', () => {
    const [policy, binding] = buildPolicyObjects(definition);
    expect(policy.spec.validations).toStrictEqual([{ expression: 'true', message: 'never', reason: 'Forbidden' }]);
    expect(policy.spec).not.toHaveProperty('paramKind');
    expect(binding).toStrictEqual({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'example' },
      spec: { policyName: 'example', validationActions: ['Deny'] },
    });
  });

  it('admits everything while its parameter is absent', () => {
    const [policy, binding] = buildPolicyObjects({
      ...definition,
      param: {
        resource: { group: 'config.openshift.io', version: 'v1', plural: 'infrastructures', kind: 'Infrastructure' },
        name: 'cluster',
      },
    });
    expect(policy.spec.paramKind).toStrictEqual({ apiVersion: 'config.openshift.io/v1', kind: 'Infrastructure' });
    expect(policy.spec.failurePolicy).toBe('Ignore');
    expect(binding.spec.paramRef).toStrictEqual({ name: 'cluster', parameterNotFoundAction: 'Allow' });
  });

  it('accepts a parameter in a namespace, and one of the core group', () => {
    const [policy, binding] = buildPolicyObjects({
      ...definition,
      param: {
        resource: { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' },
        name: 'streams',
        namespace: 'ours',
      },
    });
    expect(policy.spec.paramKind).toStrictEqual({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(binding.spec.paramRef).toMatchObject({ name: 'streams', namespace: 'ours' });
  });

  it('accepts every object of a kind in the namespace of the request as its parameter', () => {
    const resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };
    const [, binding] = buildPolicyObjects({ ...definition, param: { resource, every: true } });
    expect(binding.spec.paramRef).toStrictEqual({ selector: {}, parameterNotFoundAction: 'Allow' });
  });
});

const haveParam = new Set([
  'pool-os-stream-exists',
  'pool-os-stream-forward',
  'managed-boot-images-platform',
  'data-image-host-guards',
]);
const aboutStatusToo = new Set(['mcn-guards', 'node-guards']);

describe.each(policies('ours').map((policy) => ({ name: policy.name, policy: buildPolicyObjects(policy)[0] })))(
  'the policy $name',
  ({ name, policy }) => {
    it(`${haveParam.has(name) ? 'admits what it cannot evaluate' : 'fails closed'}, and covers spec${aboutStatusToo.has(name) ? ' and status' : ' but not status'}`, () => {
      expect(policy.spec.failurePolicy).toBe(haveParam.has(name) ? 'Ignore' : 'Fail');
      const covered = policy.spec.matchConstraints.resourceRules.flatMap(({ resources }) => resources);
      expect(covered.some((resource) => /[/*]/.test(resource))).toBe(aboutStatusToo.has(name));
    });

    it.each(exemptIdentities('ours').map((identity) => ('user' in identity ? identity.user : identity.group)))(
      'never denies %s',
      (identity) => {
        expect(policy.spec.matchConditions[0]?.expression).toContain(`'${identity}'`);
      },
    );

    it('exempts one ServiceAccount of our namespace, and no group of them', () => {
      const exempt = policy.spec.matchConditions[0]?.expression ?? '';
      expect(exempt.match(/system:serviceaccount[^']*ours[^']*/g)).toEqual([
        'system:serviceaccount:ours:machine-config-controller',
      ]);
    });

    it('does not depend on the name in the request, which the deletion of a collection leaves empty', () => {
      expect(JSON.stringify(policy)).not.toContain('request.name');
    });
  },
);

it('the exempt ServiceAccount is the one of the configured namespace', () => {
  const listUsers = (namespace?: string) =>
    exemptIdentities(namespace).map((identity) => ('user' in identity ? identity.user : ''));
  expect(listUsers()).toContain('system:serviceaccount:openshift-machine-config-operator:machine-config-controller');
  expect(listUsers('elsewhere')).toContain('system:serviceaccount:elsewhere:machine-config-controller');
});
