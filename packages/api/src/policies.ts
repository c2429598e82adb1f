import { daemonUser, defaultNamespace, exemptIdentities } from './identity.ts';
import { customPoolPolicy } from './machineconfiguration/custom-pool-policy.ts';
import { builtInConfigPolicy, renderedConfigPolicy } from './machineconfiguration/machine-config-policies.ts';
import { machineConfigNodePolicy, nodePolicy } from './machineconfiguration/node-policies.ts';
import {
  osImageStreamPolicy,
  poolStreamExistsPolicy,
  poolStreamForwardPolicy,
  poolStreamRecordPolicy,
} from './machineconfiguration/os-stream-policies.ts';
import { bootImagePlatformPolicy } from './operator/boot-image-platform-policy.ts';
import { dataImageHostPolicy } from './metal3/data-image-host-policy.ts';
import { dataImageMemoryPolicy } from './metal3/data-image-memory-policy.ts';
import { dataImagePolicy } from './metal3/data-image-policy.ts';
import { machineConfigurationPolicy } from './operator/machine-configuration-policy.ts';
import type { PolicyDefinition } from './policy.ts';

/** Every admission policy we install, for controllers that run in `namespace`. */
export function policies(namespace: string = defaultNamespace): PolicyDefinition[] {
  const exempt = exemptIdentities(namespace);
  return [
    machineConfigurationPolicy(exempt),
    customPoolPolicy(exempt),
    renderedConfigPolicy(exempt),
    builtInConfigPolicy(exempt),
    nodePolicy(exempt, daemonUser(namespace)),
    machineConfigNodePolicy(exempt, daemonUser(namespace)),
    poolStreamExistsPolicy(exempt),
    poolStreamForwardPolicy(exempt),
    poolStreamRecordPolicy(exempt),
    osImageStreamPolicy(exempt),
    bootImagePlatformPolicy(exempt),
    dataImagePolicy(exempt),
    dataImageHostPolicy(exempt),
    dataImageMemoryPolicy(exempt),
  ];
}
