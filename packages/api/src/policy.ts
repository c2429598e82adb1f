import type { Identity } from './identity.ts';
import type { Resource } from './kind.ts';

type ResourceName = Pick<Resource<unknown>, 'group' | 'version' | 'plural'>;

export interface PolicyValidation {
  /** CEL over `object`, `oldObject`, `request` and `params`; false refuses the request. */
  expression: string;
  /** What the user is told. */
  message: string;
  /** The same in CEL, where it can name the object; `message` is told when it fails. */
  messageExpression?: string;
}

/** A promise about an API that holds at the door, for everybody but the exempt. */
export interface PolicyDefinition {
  name: string;
  description: string;
  resource: ResourceName;
  operations: ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** Which changes are looked at; of the spec alone, unless labels decide something too. */
  covers?: 'spec' | 'spec and labels';
  exempt: readonly Identity[];
  validations: PolicyValidation[];
  /** An object that the expressions read as `params`. While it is absent the policy lets everything pass. */
  param?: { resource: ResourceName & Pick<Resource<unknown>, 'kind'>; name: string; namespace?: string };
}

export interface ValidatingAdmissionPolicy {
  apiVersion: 'admissionregistration.k8s.io/v1';
  kind: 'ValidatingAdmissionPolicy';
  metadata: { name: string; annotations: Record<string, string> };
  spec: {
    failurePolicy: 'Fail';
    paramKind?: { apiVersion: string; kind: string };
    matchConstraints: {
      matchPolicy: 'Equivalent';
      resourceRules: { apiGroups: string[]; apiVersions: string[]; operations: string[]; resources: string[] }[];
    };
    matchConditions: { name: string; expression: string }[];
    validations: (PolicyValidation & { reason: 'Forbidden' })[];
  };
}

export interface ValidatingAdmissionPolicyBinding {
  apiVersion: 'admissionregistration.k8s.io/v1';
  kind: 'ValidatingAdmissionPolicyBinding';
  metadata: { name: string };
  spec: {
    policyName: string;
    validationActions: ['Deny'];
    paramRef?: { name: string; namespace?: string; parameterNotFoundAction: 'Allow' };
  };
}

const celList = (values: string[]): string => `[${values.map((value) => `'${value}'`).join(', ')}]`;

function notExempt(exempt: readonly Identity[]): string {
  const users = exempt.flatMap((identity) => ('user' in identity ? [identity.user] : []));
  const groups = exempt.flatMap((identity) => ('group' in identity ? [identity.group] : []));
  return [
    `!(request.userInfo.username in ${celList(users)})`,
    `!(has(request.userInfo.groups) && request.userInfo.groups.exists(group, group in ${celList(groups)}))`,
  ].join(' && ');
}

// With this reason the answer is 403 and not 422: it is about who may do what, not about the form of the object.
const refusing = (validation: PolicyValidation) => ({ ...validation, reason: 'Forbidden' as const });

// Annotations and finalizers of an object that was there before the policy can still be changed; its labels too, where
// they decide nothing.
const changes = {
  spec: "request.operation != 'UPDATE' || object.?spec != oldObject.?spec",
  'spec and labels':
    "request.operation != 'UPDATE' || object.?spec != oldObject.?spec || object.metadata.?labels != oldObject.metadata.?labels",
} as const;

const apiVersionOf = ({ group, version }: ResourceName): string => (group === '' ? version : `${group}/${version}`);

function policyOf(definition: PolicyDefinition): ValidatingAdmissionPolicy {
  const { name, description, resource, operations, exempt, validations, param } = definition;
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, annotations: { 'kubernetes.io/description': description } },
    spec: {
      failurePolicy: 'Fail',
      ...(param && { paramKind: { apiVersion: apiVersionOf(param.resource), kind: param.resource.kind } }),
      matchConstraints: {
        // A request through another version of the kind is the same request. Status is not named, so it is not covered.
        matchPolicy: 'Equivalent',
        resourceRules: [
          {
            apiGroups: [resource.group],
            apiVersions: [resource.version],
            operations,
            resources: [resource.plural],
          },
        ],
      },
      matchConditions: [
        { name: 'not-exempt', expression: notExempt(exempt) },
        { name: 'spec-changes', expression: changes[definition.covers ?? 'spec'] },
      ],
      validations: validations.map(refusing),
    },
  };
}

function bindingOf({ name, param }: PolicyDefinition): ValidatingAdmissionPolicyBinding {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      ...(param && {
        paramRef: {
          name: param.name,
          ...(param.namespace !== undefined && { namespace: param.namespace }),
          parameterNotFoundAction: 'Allow',
        },
      }),
    },
  };
}

/** The two objects that put a policy into force. */
export const policyObjectsOf = (
  definition: PolicyDefinition,
): [ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding] => [policyOf(definition), bindingOf(definition)];
