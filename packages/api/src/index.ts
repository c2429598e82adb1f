export * from './crd.ts';
export * from './kind.ts';
export * from './kinds.ts';
export type { ObjectMeta, OwnerReference } from './object-meta.ts';
export type { Rule, SchemaNode } from './schema.ts';
export * from './cluster-api/gcp-machine-template.ts';
export * from './cluster-api/machine-deployment.ts';
export * from './cluster-api/machine-set.ts';
export * from './core/kinds.ts';
export * from './config/cluster-operator.ts';
export * from './config/cluster-version.ts';
export * from './config/feature-gate.ts';
export * from './config/infrastructure.ts';
export type { PlatformType } from './config/platform-fields.ts';
export * from './machine/machine-set.ts';
export * from './machineconfiguration/boot-image-history.ts';
export * from './machineconfiguration/machine-config-node.ts';
export * from './machineconfiguration/names.ts';
export * from './machineconfiguration/machine-config-pool.ts';
export * from './machineconfiguration/machine-config.ts';
export * from './machineconfiguration/os-image-stream.ts';
export * from './machineconfiguration/pinned-image-set.ts';
export * from './machineconfiguration/stream-names.ts';
export * from './metal3/bare-metal-host.ts';
export * from './metal3/bmc-drivers.ts';
export * from './metal3/data-image.ts';
export { bootImagePlatforms } from './operator/machine-configuration-policies.ts';
export * from './operator/machine-configuration.ts';
export type { DisruptionAction } from './operator/node-disruption-policy.ts';
export { isImageByDigest } from './shared-fields.ts';
export { checkMetadata } from './check-metadata.ts';
export type { Problem } from './problem.ts';
export * from './unknown-fields.ts';
export { validate, type Validated } from './validate.ts';
export * from './identity.ts';
export * from './policies.ts';
export {
  type PolicyDefinition,
  buildPolicyObjects,
  type PolicyValidation,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from './policy.ts';
export * from './rbac.ts';
