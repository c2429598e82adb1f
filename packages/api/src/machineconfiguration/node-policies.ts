// What the identities of a machine may write: those of its daemon and of its kubelet. Whoever takes over one machine has
// them, and must not get further with them than that machine.
import { nodes } from '../core/kinds.ts';
import type { Identity } from '../identity.ts';
import { celList, inGroup, type PolicyDefinition } from '../policy.ts';
import { machineConfigNodes } from './machine-config-node.ts';
import { daemonAnnotations, ourPrefixes } from './names.ts';

const NODE_USER = 'system:node:';
const isDaemon = (daemon: string): string => `request.userInfo.username == '${daemon}'`;
const isKubelet = `${inGroup('system:nodes')} || request.userInfo.username.startsWith('${NODE_USER}')`;

/**
 * The node that the request comes from: of a kubelet it is in the name of the user, of a daemon in the token of its pod.
 * '' for everybody else, and for a token that is bound to no pod on a node.
 */
const buildCallerVariable = (daemon: string): { name: string; expression: string } => ({
  name: 'caller',
  expression: `${isDaemon(daemon)} ? request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('') : (request.userInfo.username.startsWith('${NODE_USER}') ? request.userInfo.username.substring(${NODE_USER.length}) : '')`,
});

const shortNames = daemonAnnotations.map((name) => name.slice(name.indexOf('/') + 1)).join(', ');

const isOurs = `(${ourPrefixes.map((prefix) => `name.startsWith('${prefix}')`).join(' || ')})`;

/** The names of the annotations or labels that a request adds, changes or removes. */
function buildChangeVariables(field: 'annotations' | 'labels'): { name: string; expression: string }[] {
  const [before, after] = [`${field}Before`, `${field}After`];
  const all = `metadata.?${field}.orValue({})`;
  return [
    { name: before, expression: `request.operation == 'CREATE' ? {} : oldObject.${all}` },
    { name: after, expression: `object.${all}` },
    {
      name: `changed${field === 'labels' ? 'Labels' : 'Annotations'}`,
      expression: `variables.${after}.filter(name, variables.${before}[?name] != variables.${after}[?name]) + variables.${before}.filter(name, !(name in variables.${after}))`,
    },
  ];
}

/** Labels decide pools, and desiredConfig what a machine fetches: a worker must not aim itself at the masters' config. */
export const nodePolicy = (exempt: readonly Identity[], daemon: string): PolicyDefinition => ({
  name: 'node-guards',
  description:
    'A daemon changes of its own Node the annotations it reports with, and nothing else of any Node; a kubelet none of our annotations but those.',
  resource: nodes,
  operations: ['CREATE', 'UPDATE'],
  covers: 'everything',
  // A request for the status of a Node may change its annotations and labels as well.
  subresource: 'status',
  exempt,
  about: { name: 'from-a-machine', expression: `${isDaemon(daemon)} || ${isKubelet}` },
  variables: [
    buildCallerVariable(daemon),
    { name: 'isDaemon', expression: isDaemon(daemon) },
    ...buildChangeVariables('annotations'),
    ...buildChangeVariables('labels'),
    {
      name: 'refused',
      expression: [
        `variables.changedAnnotations.filter(name, !(name in ${celList(daemonAnnotations)} && variables.caller == object.metadata.name) && (variables.isDaemon || ${isOurs}))`,
        `variables.changedLabels.filter(name, ${isOurs})`,
      ].join(' + '),
    },
  ],
  validations: [
    {
      expression: '!variables.isDaemon || variables.caller == object.metadata.name',
      message:
        'a daemon writes the Node that it runs on, and no other: use a token that is bound to a pod of that node',
      messageExpression:
        "'a daemon writes the Node that it runs on, and no other: found ' + (variables.caller == '' ? 'a token that names no node' : 'a token of node ' + variables.caller) + ' and a request for Node ' + object.metadata.name",
    },
    {
      expression: 'size(variables.refused) == 0',
      message: `a machine writes on its own Node the annotations ${shortNames}, and no others of ours: they are for controllers`,
      messageExpression: `'of Node ' + object.metadata.name + ' a machine may not write ' + variables.refused.join(', ') + ': on its own Node it writes the annotations ${shortNames}, the others are for controllers'`,
    },
    {
      expression:
        "!variables.isDaemon || (request.operation == 'UPDATE' && object.?spec == oldObject.?spec && object.?status == oldObject.?status && object.metadata.?labels == oldObject.metadata.?labels && object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences && object.metadata.?finalizers == oldObject.metadata.?finalizers)",
      message: `a daemon changes of its Node the annotations ${shortNames} and nothing else: labels, taints and the rest are for controllers, the kubelet and people`,
    },
  ],
});

/** The record of a node's way from one config to the next: the controller opens it, the node itself writes it. */
export const machineConfigNodePolicy = (exempt: readonly Identity[], daemon: string): PolicyDefinition => ({
  name: 'mcn-guards',
  description:
    'A MachineConfigNode is made, changed and deleted by the controller; its status is written by the daemon of that node.',
  resource: machineConfigNodes,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  covers: 'everything',
  subresource: 'status',
  exempt,
  variables: [
    buildCallerVariable(daemon),
    { name: 'isStatus', expression: "request.?subResource.orValue('') == 'status'" },
    { name: 'isMachine', expression: `${isDaemon(daemon)} || ${isKubelet}` },
  ],
  validations: [
    {
      expression: '!variables.isStatus || variables.caller == request.name',
      message: 'the status of a MachineConfigNode is written by the daemon of that node alone',
      messageExpression:
        "'the status of MachineConfigNode ' + request.name + ' is written by the daemon of that node alone: found ' + request.userInfo.username + (variables.caller == '' ? '' : ' on node ' + variables.caller)",
    },
    {
      // Labels and annotations are their users'.
      expression:
        "variables.isStatus || (!variables.isMachine && request.operation == 'UPDATE' && object.?spec == oldObject.?spec && object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences)",
      message:
        'a MachineConfigNode is made with its Node, follows it, and goes with it: the controller does that, and nobody else makes, changes or deletes one',
    },
  ],
});
