import { describe, expect, it } from 'vitest';
import { exemptIdentities } from './identity.ts';
import { policies } from './policies.ts';
import { policyObjectsOf, type PolicyDefinition } from './policy.ts';

const definition: PolicyDefinition = {
  name: 'example',
  description: 'An example.',
  resource: { group: 'example.com', version: 'v1', plural: 'things' },
  operations: ['CREATE'],
  exempt: [{ user: 'robot' }, { group: 'robots' }],
  validations: [{ expression: 'true', message: 'never' }],
};

describe('a policy', () => {
  it('names its exempt identities before it looks at anything', () => {
    const [policy] = policyObjectsOf(definition);
    expect(policy.spec.matchConditions[0]?.expression).toBe(
      "!(request.userInfo.username in ['robot']) && !(has(request.userInfo.groups) && request.userInfo.groups.exists(group, group in ['robots']))",
    );
  });

  it('refuses as forbidden, and binds itself to the whole cluster', () => {
    const [policy, binding] = policyObjectsOf(definition);
    expect(policy.spec.validations).toStrictEqual([{ expression: 'true', message: 'never', reason: 'Forbidden' }]);
    expect(policy.spec).not.toHaveProperty('paramKind');
    expect(binding).toStrictEqual({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'example' },
      spec: { policyName: 'example', validationActions: ['Deny'] },
    });
  });

  it('lets everything pass while its parameter is absent', () => {
    const [policy, binding] = policyObjectsOf({
      ...definition,
      param: {
        resource: { group: 'config.openshift.io', version: 'v1', plural: 'infrastructures', kind: 'Infrastructure' },
        name: 'cluster',
      },
    });
    expect(policy.spec.paramKind).toStrictEqual({ apiVersion: 'config.openshift.io/v1', kind: 'Infrastructure' });
    expect(binding.spec.paramRef).toStrictEqual({ name: 'cluster', parameterNotFoundAction: 'Allow' });
  });

  it('finds a parameter in a namespace, and one of the core group', () => {
    const [policy, binding] = policyObjectsOf({
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
});

describe.each(policies('ours').map((policy) => ({ name: policy.name, policy: policyObjectsOf(policy)[0] })))(
  'the policy $name',
  ({ policy }) => {
    it('fails closed, and covers spec but not status', () => {
      expect(policy.spec.failurePolicy).toBe('Fail');
      expect(policy.spec.matchConstraints.resourceRules.flatMap(({ resources }) => resources)).not.toContainEqual(
        expect.stringMatching(/[/*]/),
      );
    });

    it.each(exemptIdentities('ours').map((identity) => Object.values(identity).join('')))(
      'never stops %s',
      (identity) => {
        expect(policy.spec.matchConditions[0]?.expression).toContain(`'${identity}'`);
      },
    );
  },
);

it('our ServiceAccounts are those of our namespace, which can be another', () => {
  expect(exemptIdentities()).toContainEqual({ group: 'system:serviceaccounts:openshift-machine-config-operator' });
  expect(exemptIdentities('elsewhere')).toContainEqual({ group: 'system:serviceaccounts:elsewhere' });
});
