import type { Identity } from './identity.ts';
import type { Resource } from './kind.ts';

type ResourceName = Pick<Resource<unknown>, 'group' | 'version' | 'plural'>;

export interface PolicyValidation<T = unknown> {
  /** CEL over `object`, `oldObject`, `request` and `params`. False denies the request. */
  expression: string;
  /** Shown to the user. */
  message: string;
  /** The same in CEL, which can name the object. If it fails, `message` is shown. */
  messageExpression?: string;
  /** The field that it is about; default: the object as a whole. */
  field?: string;
  /**
   * The message for a new object of a user who is not exempt, without the object and the field at its start; undefined if
   * the object is admitted. Omitted if the stored object, a parameter or the user decides, or if fleet checks the same.
   */
  refuses?(object: T): string | undefined;
}

/** A rule that the API server enforces at admission, except for exempt identities. */
export interface PolicyDefinition<T = unknown> {
  name: string;
  description: string;
  resource: ResourceName;
  operations: ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** Which changes are validated. Default: the spec. Wider if labels, owners or the writer matter. */
  covers?: 'spec' | 'spec, labels and owners' | 'everything';
  /** Also validates writes through this subresource. Only for policies that cover everything. */
  subresource?: 'status';
  exempt: readonly Identity[];
  /** CEL that limits the policy to matching requests, in addition to the exemptions. */
  about?: { name: string; expression: string };
  /** CEL that the validations read as `variables.<name>`. Each can use the ones before it. */
  variables?: { name: string; expression: string }[];
  validations: PolicyValidation<T>[];
  /**
   * An object that the expressions read as `params`. While it is absent, or its kind is not served yet, the policy
   * admits everything, so a controller must enforce the same rule.
   */
  param?: PolicyParam;
}

/** One object, or every object of the kind in the namespace of the request. With several, any of them can deny it. */
export type PolicyParam = { resource: ResourceName & Pick<Resource<unknown>, 'kind'> } & (
  | { name: string; namespace?: string }
  | { every: true }
);

type ServerValidation = Pick<PolicyValidation, 'expression' | 'message' | 'messageExpression'> & {
  reason: 'Forbidden';
};

export interface ValidatingAdmissionPolicy {
  apiVersion: 'admissionregistration.k8s.io/v1';
  kind: 'ValidatingAdmissionPolicy';
  metadata: { name: string; annotations: Record<string, string> };
  spec: {
    failurePolicy: 'Fail' | 'Ignore';
    paramKind?: { apiVersion: string; kind: string };
    matchConstraints: {
      matchPolicy: 'Equivalent';
      resourceRules: { apiGroups: string[]; apiVersions: string[]; operations: string[]; resources: string[] }[];
    };
    matchConditions: { name: string; expression: string }[];
    variables?: { name: string; expression: string }[];
    validations: ServerValidation[];
  };
}

export interface ValidatingAdmissionPolicyBinding {
  apiVersion: 'admissionregistration.k8s.io/v1';
  kind: 'ValidatingAdmissionPolicyBinding';
  metadata: { name: string };
  spec: {
    policyName: string;
    validationActions: ['Deny'];
    paramRef?: ({ name: string; namespace?: string } | { selector: Record<string, never> }) & {
      parameterNotFoundAction: 'Allow';
    };
  };
}

export const celList = (values: readonly string[]): string => `[${values.map((value) => `'${value}'`).join(', ')}]`;

function notExempt(exempt: readonly Identity[]): string {
  const users = exempt.flatMap((identity) => ('user' in identity ? [identity.user] : []));
  const groups = exempt.filter((identity) => 'group' in identity);
  return [
    `!(request.userInfo.username in ${celList(users)})`,
    ...groups.map(({ group }) => `!(${inGroup(group)})`),
  ].join(' && ');
}

/** CEL: the user who makes the request is in this group. */
export const inGroup = (group: string): string => `'${group}' in request.userInfo.?groups.orValue([])`;

/**
 * CEL for an update that leaves alone what decides about deletion: garbage collection deletes an object whose owner
 * does not exist, and a finalizer keeps one from being deleted.
 */
export const KEEPS_OWNERS =
  'object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences && object.metadata.?finalizers == oldObject.metadata.?finalizers';

// Returns 403 instead of 422: the policies restrict who may do what, not the form of an object.
const refusing = ({ expression, message, messageExpression }: PolicyValidation): ServerValidation => ({
  expression,
  message,
  ...(messageExpression !== undefined && { messageExpression }),
  reason: 'Forbidden',
});

// Annotations of an object that predates the policy can still be changed, and so can its labels, owners and finalizers
// unless the policy depends on them.
const changes = {
  everything: undefined,
  spec: "request.operation != 'UPDATE' || object.?spec != oldObject.?spec",
  'spec, labels and owners': `request.operation != 'UPDATE' || object.?spec != oldObject.?spec || object.metadata.?labels != oldObject.metadata.?labels || !(${KEEPS_OWNERS})`,
} as const;

// kube-apiserver resolves the kind of a parameter before it evaluates the exemptions, and for up to 30 seconds after
// its start, or after a new CRD, that can fail. With `Fail` it denied all requests meanwhile, those of our controllers
// too (for 26 seconds, in one start of three). So an unresolved kind is treated like an absent object.
const FAILURE_POLICY_WITH_PARAM = 'Ignore';

const formatApiVersion = ({ group, version }: ResourceName): string => (group === '' ? version : `${group}/${version}`);

function buildPolicy(definition: PolicyDefinition): ValidatingAdmissionPolicy {
  const { name, description, resource, operations, exempt, validations, variables, param, about } = definition;
  const covered = changes[definition.covers ?? 'spec'];
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, annotations: { 'kubernetes.io/description': description } },
    spec: {
      failurePolicy: param === undefined ? 'Fail' : FAILURE_POLICY_WITH_PARAM,
      ...(param && { paramKind: { apiVersion: formatApiVersion(param.resource), kind: param.resource.kind } }),
      matchConstraints: {
        // Requests through other versions of the kind match too. Subresources match only if listed.
        matchPolicy: 'Equivalent',
        resourceRules: [
          {
            apiGroups: [resource.group],
            apiVersions: [resource.version],
            operations,
            resources: [
              resource.plural,
              ...(definition.subresource === undefined ? [] : [`${resource.plural}/${definition.subresource}`]),
            ],
          },
        ],
      },
      matchConditions: [
        { name: 'not-exempt', expression: notExempt(exempt) },
        ...(covered === undefined ? [] : [{ name: 'spec-changes', expression: covered }]),
        ...(about === undefined ? [] : [about]),
      ],
      ...(variables && { variables }),
      validations: validations.map(refusing),
    },
  };
}

function buildBinding({ name, param }: PolicyDefinition): ValidatingAdmissionPolicyBinding {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      ...(param && { paramRef: { ...buildParamRef(param), parameterNotFoundAction: 'Allow' } }),
    },
  };
}

function buildParamRef(param: PolicyParam) {
  if ('every' in param) return { selector: {} };
  return { name: param.name, ...(param.namespace !== undefined && { namespace: param.namespace }) };
}

/** The two objects that install a policy. */
export const buildPolicyObjects = (
  definition: PolicyDefinition,
): [ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding] => [buildPolicy(definition), buildBinding(definition)];
