// The life of a MachineSet or MachineDeployment, from decision to decision, with what its history stores meanwhile.
import { afterAll, describe, expect, it } from 'vitest';
import { knownImages, nextKept, parseBootImageConfig } from './boot-image-config.ts';
import { type Decision, decideResource } from './decide.ts';
import type { ClusterFacts, MachineReading, ResourceFacts } from './facts.ts';
import {
  decodeKeptImages,
  encodeKeptImages,
  findRecordableVersion,
  type KeptImage,
  keptAfterChange,
  keptWhenChecked,
} from './history.ts';
import type { JsonObject } from './json.ts';
import { platformDef, templateKind, templateRule } from './platforms/index.ts';
import { restorationTo } from './restoration.ts';
import { imageCases } from './testing/image-cases.ts';
import { TEMPLATE_REGION, type TemplateCase, templateCases } from './testing/machine-templates.ts';
import { INFRASTRUCTURE_NAME } from './testing/provider-specs.ts';
import { carriedOut, clusterApiSet, machineSet, NOW, sampleCluster, sampleResource } from './testing/sample-facts.ts';
import { bootImagesData, olderStream, rhel9, type StreamVersions } from './testing/stream-metadata.ts';
import type { Architecture, ImageRule } from './verdict.ts';

const release = (version: string, azure: string): StreamVersions => ({
  ...rhel9,
  version,
  marketplace: { free: `9.9.${azure}`, paid: `9.9.${azure}12`, emea: `9.9.${azure}13` },
});
const FIRST = rhel9;
const UPGRADES = [release('9.9.20270101-0', '20270101'), release('9.9.20270202-0', '20270202')];

/** The cluster at each of the releases that it had, the last of them current. */
function clusterAt(releases: readonly StreamVersions[], azureCloud = ''): ClusterFacts {
  const configs = releases.map((each) => {
    const read = parseBootImageConfig({ data: bootImagesData({ 'rhel-9': each }) });
    if (!read.ok) throw new Error(read.message);
    return read.config;
  });
  const kept = configs.reduce<string | undefined>((before, config) => nextKept(config, before), undefined);
  const [config] = configs.slice(-1);
  if (config === undefined) throw new Error('there is no release');
  return sampleCluster({
    golden: { type: 'valid', golden: { config, generation: releases.length, stamp: { type: 'stamped' } } },
    infrastructureName: INFRASTRUCTURE_NAME,
    azureCloud,
    knownImages: knownImages(config, kept),
  });
}

interface Life {
  readonly name: string;
  readonly place: string;
  readonly azureCloud?: string | undefined;
  readonly facts: ResourceFacts;
}

interface LifeCase {
  readonly spec: JsonObject;
  readonly architecture?: Architecture | undefined;
  readonly isAdopted?: boolean | undefined;
}

const stub = { ok: true, current: 'managed', wanted: 'managed', note: '', needsNewImage: false } as const;

const buildFacts = (
  { spec, architecture = 'x86_64', isAdopted = false }: LifeCase,
  machine: Pick<Extract<MachineReading, { ok: true }>, 'platform' | 'rule' | 'imagePaths'>,
): ResourceFacts =>
  sampleResource({
    annotations: isAdopted ? { 'slipway.dev/boot-image-adopt': 'true' } : {},
    machine: { ok: true, architecture: { ok: true, architecture }, spec, ...machine },
    stub,
  });

const ruleOfTemplate = ({ kind, apiVersion }: TemplateCase): ImageRule => {
  const rule = templateRule(kind, apiVersion, { region: TEMPLATE_REGION, failureDomain: '' });
  if (rule === null) throw new Error(`there is no rule for ${kind} ${apiVersion}`);
  return rule;
};

/** Every kind of spec in which Slipway sets the image. */
const lives: readonly Life[] = [
  ...imageCases
    .filter(({ verdict }) => verdict === 'change')
    .map((each) => {
      const { machineApi: rule, providerSpec } = platformDef(each.platform);
      return {
        name: `${each.platform}, Machine API: ${each.name}`,
        place: `${each.platform} mapi`,
        azureCloud: each.azureCloud,
        facts: {
          ...buildFacts(each, { platform: each.platform, rule, imagePaths: providerSpec.imagePaths }),
          resource: machineSet,
        },
      };
    }),
  ...templateCases
    .filter(({ verdict }) => verdict === 'change')
    .map((each) => {
      const { platform, imagePaths } = templateKind(each.kind);
      const rule = ruleOfTemplate(each);
      return {
        name: `${platform}, Cluster API ${each.apiVersion}: ${each.name}`,
        place: `${platform} capi`,
        facts: { ...buildFacts(each, { platform, rule, imagePaths }), resource: clusterApiSet },
      };
    }),
];

interface Moment {
  readonly facts: ResourceFacts;
  readonly kept: readonly KeptImage[];
}

const specOf = ({ machine }: ResourceFacts): JsonObject => (machine.ok ? machine.spec : {});

/** As the controllers do it: the change and its history, then a check that finds nothing to change. */
function reconcile({ facts, kept }: Moment, cluster: ClusterFacts): Moment {
  const first = decideResource(facts, cluster);
  const { machine } = facts;
  const after = carriedOut(facts, first);
  const images =
    first.change !== null && first.change.spec !== null && machine.ok
      ? keptAfterChange(kept, { machine, verdict: first.verdict, change: first.change }, NOW)
      : kept;
  const second = decideResource(after, cluster);
  expect(second).toMatchObject({ change: null, verdict: { verdict: 'current', code: null } });
  return { facts: after, kept: record({ facts: after, kept: images }, second) };
}

function record({ facts: { machine }, kept }: Moment, decision: Decision): readonly KeptImage[] {
  expect(findRecordableVersion(decision, kept)).not.toBeNull();
  const next = keptWhenChecked(kept, { machine, decision, before: undefined }, NOW);
  return decodeKeptImages(encodeKeptImages(next));
}

describe('a fresh cluster that opts in, is upgraded twice and restored to the first image has the first spec, byte for byte', () => {
  const restored = new Map<string, number>();

  it.each(lives)('$name', ({ facts, azureCloud, place }) => {
    // What the installer of the first release writes is what that release would set.
    const { change } = decideResource(facts, clusterAt([olderStream, FIRST], azureCloud));
    const installed = carriedOut(facts, { change });
    const fresh = { ...installed, annotations: facts.annotations };
    const first = JSON.stringify(specOf(fresh));

    let life: Moment = { facts: fresh, kept: [] };
    const specs: string[] = [];
    for (const [at] of [FIRST, ...UPGRADES].entries()) {
      life = reconcile(life, clusterAt([FIRST, ...UPGRADES].slice(0, at + 1), azureCloud));
      specs.push(JSON.stringify(specOf(life.facts)));
    }
    expect(specs[0]).toBe(first);
    expect(new Set(specs).size).toBe(3);
    // One image of each release: what a change records is what the check after it finds.
    expect(life.kept).toHaveLength(3);

    const { machine, resource } = life.facts;
    const version = life.kept[0]?.version ?? '';
    expect(version).not.toBe('');
    const found = machine.ok ? restorationTo(version, { ...machine, resource, kept: life.kept }) : null;
    expect(found?.ok === true ? JSON.stringify(found.restoration.spec) : found).toBe(first);
    restored.set(place, (restored.get(place) ?? 0) + 1);
  });

  afterAll(() => {
    const counts = [...restored].map(([place, count]) => `${place} ${count}`);
    console.log(`${lives.length} lives restored to their first spec, byte for byte: ${counts.join(', ')}`);
  });

  it('covers every platform and API in which Slipway sets an image', () => {
    expect([...new Set(lives.map(({ place }) => place))].toSorted()).toEqual([
      'alibabacloud mapi',
      'aws capi',
      'aws mapi',
      'azure capi',
      'azure mapi',
      'baremetal capi',
      'baremetal mapi',
      'gcp capi',
      'gcp mapi',
    ]);
  });
});
