import { daemonUser, DEFAULT_NAMESPACE, exemptIdentities } from './identity.ts';
import {
  builtInConfigPolicy,
  customPoolPolicy,
  poolConfigPolicy,
  renderedConfigPolicy,
} from './machineconfiguration/machine-config-policies.ts';
import { machineConfigNodePolicy, nodePolicy } from './machineconfiguration/node-policies.ts';
import {
  osImageStreamPolicy,
  poolStreamExistsPolicy,
  poolStreamForwardPolicy,
  poolStreamRecordPolicy,
} from './machineconfiguration/os-stream-policies.ts';
import { dataImageHostPolicy, dataImageMemoryPolicy, dataImagePolicy } from './metal3/data-image-policies.ts';
import { bootImagePlatformPolicy, machineConfigurationPolicy } from './operator/machine-configuration-policies.ts';
import type { PolicyDefinition } from './policy.ts';

/** Every admission policy that we install, for controllers that run in `namespace`. */
export function policies(namespace: string = DEFAULT_NAMESPACE): PolicyDefinition[] {
  const exempt = exemptIdentities(namespace);
  return [
    machineConfigurationPolicy(exempt),
    customPoolPolicy(exempt),
    poolConfigPolicy(exempt),
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
