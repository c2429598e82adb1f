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
  /** Which changes are looked at; of the spec alone, unless labels decide something too, or all is about who writes. */
  covers?: 'spec' | 'spec and labels' | 'everything';
  /** Also what is written through this one. Only for policies that cover everything. */
  subresource?: 'status';
  exempt: readonly Identity[];
  /** In CEL: the only requests it is about, beside the exempt. */
  about?: { name: string; expression: string };
  /** CEL that the validations read as `variables.<name>`; each may use those before it. */
  variables?: { name: string; expression: string }[];
  validations: PolicyValidation[];
  /**
   * An object that the expressions read as `params`. While it is absent, or its kind is not served yet, the policy lets
   * everything pass: what it holds must be held by a controller as well.
   */
  param?: PolicyParam;
}

/** One object; or every object of the kind in the namespace of the one that is written, each in turn: one of them can refuse. */
export type PolicyParam = { resource: ResourceName & Pick<Resource<unknown>, 'kind'> } & (
  | { name: string; namespace?: string }
  | { every: true }
);

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
    ...groups.map((identity) => `!(${inGroup(identity.group)}${exceptFor(identity.except)})`),
  ].join(' && ');
}

/** CEL: whoever makes the request is in this group. */
export const inGroup = (group: string): string => `'${group}' in request.userInfo.?groups.orValue([])`;

const exceptFor = (users: readonly string[] = []): string =>
  users.length === 0 ? '' : ` && !(request.userInfo.username in ${celList(users)})`;

// With this reason the answer is 403 and not 422: it is about who may do what, not about the form of the object.
const refusing = (validation: PolicyValidation) => ({ ...validation, reason: 'Forbidden' as const });

// Annotations and finalizers of an object that was there before the policy can still be changed; its labels too, where
// they decide nothing.
const changes = {
  everything: undefined,
  spec: "request.operation != 'UPDATE' || object.?spec != oldObject.?spec",
  'spec and labels':
    "request.operation != 'UPDATE' || object.?spec != oldObject.?spec || object.metadata.?labels != oldObject.metadata.?labels",
} as const;

// kube-apiserver looks for the kind of a parameter before it looks at who is exempt, and up to 30 seconds after its start,
// or after a new CRD, it may not find it. With `Fail` it refused everybody meanwhile, our controllers too (26 seconds, in
// one start of three). So while it is being looked for, the kind counts as absent, as its object does.
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
        // A request through another version of the kind is the same request. What is not named is not covered.
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

/** The two objects that put a policy into force. */
export const buildPolicyObjects = (
  definition: PolicyDefinition,
): [ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding] => [buildPolicy(definition), buildBinding(definition)];
