import { describe, expect, it } from 'vitest';
import type { MachineManager, OptIn } from './facts.ts';
import {
  listSelectionNotes,
  resolveSelection,
  isAnythingManaged,
  managersInForce,
  mayRecordSkew,
} from './preconditions.ts';
import { clusterApiSet, everything, machineDeployment, machineSet } from './testing/sample-facts.ts';
import type { MachineResource } from './verdict.ts';

type Selection = MachineManager['selection'];
const manager = (
  resource: MachineManager['resource'],
  apiGroup: MachineManager['apiGroup'],
  selection: Selection = { mode: 'All' },
): MachineManager => ({ resource, apiGroup, selection });
const partial = (machineResourceSelector: NonNullable<Selection['partial']>['machineResourceSelector']): Selection => ({
  mode: 'Partial',
  partial: { machineResourceSelector },
});
const mapi = (selection?: Selection) => manager('machinesets', 'machine.openshift.io', selection);
const optIn = (...managers: MachineManager[]): OptIn => ({ uid: 'u', generation: 1, managers });

const YES = /^opted in$/;

describe('a resource is opted in', () => {
  it.each<[string, MachineResource, OptIn | null, RegExp]>([
    ['by All', machineSet, optIn(mapi()), YES],
    ['not without a MachineConfiguration', machineSet, null, /MachineConfiguration cluster does not exist/],
    ['not without an entry', machineSet, optIn(), /no entry for machinesets of machine\.openshift\.io/],
    ['not by None', machineSet, optIn(mapi({ mode: 'None' })), /opted out.*not updated/],
    ['by a Partial selector that matches', machineSet, optIn(mapi(partial({ matchLabels: { zone: 'a' } }))), YES],
    [
      'not by one that does not',
      machineSet,
      optIn(mapi(partial({ matchLabels: { zone: 'b' } }))),
      /labels do not match/,
    ],
    ['by an empty Partial selector, as Kubernetes has it', machineSet, optIn(mapi(partial({}))), YES],
    [
      'not by a selector that breaks the rules',
      machineSet,
      optIn(mapi(partial({ matchExpressions: [{ key: 'zone', operator: 'Near' }] }))),
      /do not match/,
    ],
    [
      'not by the entry of the other API',
      clusterApiSet,
      optIn(mapi()),
      /no entry for machinesets of cluster\.x-k8s\.io/,
    ],
    ['by the entry of its API', clusterApiSet, optIn(manager('machinesets', 'cluster.x-k8s.io')), YES],
    [
      'not as a MachineDeployment by the entry for MachineSets: that would replace machines',
      machineDeployment,
      optIn(manager('machinesets', 'cluster.x-k8s.io')),
      /no entry for machinedeployments/,
    ],
    [
      'as a MachineDeployment by its entry',
      machineDeployment,
      optIn(manager('machinedeployments', 'cluster.x-k8s.io')),
      YES,
    ],
  ])('%s', (_, resource, given, expected) => {
    const found = resolveSelection({ resource, labels: { zone: 'a' } }, given);
    expect(found.enrolled ? 'opted in' : found.why).toMatch(expected);
  });
});

describe('the opt-in as a whole', () => {
  const cpms = manager('controlplanemachinesets', 'machine.openshift.io');

  it('an entry for ControlPlaneMachineSets has no effect, and a note reports it', () => {
    expect(listSelectionNotes(optIn(mapi(), cpms))).toEqual([
      expect.stringMatching(/ControlPlaneMachineSets are not managed/),
    ]);
    expect(listSelectionNotes(optIn({ ...cpms, selection: { mode: 'None' } }))).toEqual([]);
    expect(listSelectionNotes(null)).toEqual([]);
    expect(isAnythingManaged(optIn(cpms))).toBe(false);
  });

  it.each<[string, OptIn | null, boolean, readonly MachineManager[]]>([
    ['in both APIs', optIn(...everything, cpms), true, everything],
    ['in a part of the Machine API', optIn(mapi(partial({}))), false, [mapi(partial({}))]],
    ['nowhere, by None', optIn(mapi({ mode: 'None' })), false, []],
    ['nowhere', null, false, []],
    [
      'in Cluster API alone',
      optIn(manager('machinesets', 'cluster.x-k8s.io')),
      false,
      [manager('machinesets', 'cluster.x-k8s.io')],
    ],
    [
      'in Cluster API alone, which the API does not accept together with a recorded skew',
      optIn(manager('machinesets', 'cluster.x-k8s.io')),
      true,
      [],
    ],
  ])('is in force %s', (_, given, isRecorded, expected) => {
    expect(managersInForce(given, isRecorded)).toEqual(expected);
  });

  it.each<[string, OptIn | null, boolean, boolean]>([
    ['all', optIn(...everything), true, true],
    ['nothing', optIn(), false, false],
    ['no MachineConfiguration', null, false, false],
    ['None', optIn(mapi({ mode: 'None' })), false, false],
    ['a part of the Machine API', optIn(mapi(partial({}))), true, false],
    ['Cluster API alone', optIn(manager('machinesets', 'cluster.x-k8s.io')), true, true],
  ])('%s: managed at all, and skew recorded automatically', (_, given, isManaged, isRecorded) => {
    expect([isAnythingManaged(given), mayRecordSkew(given)]).toEqual([isManaged, isRecorded]);
  });
});
