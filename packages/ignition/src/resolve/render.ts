// Follows the references from a config to other configs until none is left, as the real client does first of all.
import { merge } from '../merge.ts';
import { parse } from '../parse.ts';
import { hasErrors, type Report } from '../report.ts';
import type { AnyConfig, ConfigOf } from '../spec/index.ts';
import { translate } from '../translate/index.ts';
import { validate } from '../validate/index.ts';
import { rankVersion, type SpecVersion, type SpecVersion3 } from '../version.ts';
import { authorityProblem } from './contents.ts';
import { type FetchSettings, readFetchSettings } from './fetcher.ts';
import { load, type LoadContext, parseScheme } from './load.ts';
import { atField, enterFetchedConfig, type FieldLocation, ResolveError } from './problem.ts';
import {
  authoritySlots,
  type ConfigReference,
  listMergeReferences,
  findReplaceReference,
  withoutConfigReferences,
} from './slots.ts';

/** A config that is part of the result, and its location. */
export interface Contributor {
  config: AnyConfig;
  place: FieldLocation;
}

export interface Rendered {
  /** References no other config. Shares data with the inputs. */
  config: AnyConfig;
  /** The merged configs, the base first. */
  contributors: Contributor[];
  /** How to fetch the contents of the result. */
  settings: FetchSettings;
}

/** A config in progress, and how it was reached. */
interface Step extends Contributor {
  settings: FetchSettings;
  /** The URLs from the input to this config. */
  chain: readonly string[];
  depth: number;
}

export async function render(context: LoadContext, start: Contributor, settings: FetchSettings): Promise<Rendered> {
  const inForce = await settingsIn(context, { ...start, settings, chain: [], depth: 0 });
  return renderStep(context, { ...start, settings: inForce, chain: [], depth: 0 });
}

async function renderStep(context: LoadContext, step: Step): Promise<Rendered> {
  const replacement = findReplaceReference(step.config);
  if (replacement !== null) {
    const next = await follow(context, step, replacement);
    return renderStep(context, { ...next, settings: await settingsIn(context, next) });
  }
  let merged: AnyConfig = withoutConfigReferences(step.config);
  let { settings } = step;
  const contributors: Contributor[] = [{ config: step.config, place: step.place }];
  for (const reference of listMergeReferences(step.config)) {
    const child = await follow(context, { ...step, settings }, reference);
    // The child's fetch settings already apply to what the child references.
    const both = mergeOnto({ ...step, config: merged }, { ...child, config: withoutConfigReferences(child.config) });
    const own = await authoritiesIn(context, child);
    const rendered = await renderStep(context, { ...child, settings: extend(settings, both, own) });
    merged = mergeOnto({ ...step, config: merged }, { ...child, config: rendered.config });
    settings = extend(settings, merged, rendered.settings.certificateAuthorities);
    contributors.push(...rendered.contributors);
  }
  return { config: merged, contributors, settings };
}

/** Fetches, verifies and parses a referenced config. */
async function follow(context: LoadContext, step: Step, { path, reference }: ConfigReference): Promise<Step> {
  const place = atField(step.place, path);
  const source = reference.source ?? '';
  const chain = checkChain(context, step, place, source);
  const { bytes } = await load(context, step.settings, reference, atField(place, 'source'));
  const parsed = parse(bytes);
  const report = parsed.config === null ? parsed.report : [...parsed.report, ...validate(parsed.config)];
  if (parsed.config === null || hasErrors(report)) {
    throw new ResolveError('SLW_RESOLVE_CONFIG', place, source, `it is not a valid config: ${firstError(report)}`);
  }
  return {
    config: parsed.config,
    place: enterFetchedConfig(place, source),
    settings: step.settings,
    chain,
    depth: step.depth + 1,
  };
}

function checkChain(context: LoadContext, step: Step, place: FieldLocation, source: string): readonly string[] {
  const { depth } = context.budget.limits;
  const tooDeep = step.depth >= depth ? `configs reference each other deeper than the limit of ${depth}` : null;
  const problem = tooDeep ?? context.budget.takeConfig();
  if (problem !== null) throw new ResolveError('SLW_RESOLVE_LIMIT', place, source, problem);
  // A data URL cannot reference itself.
  if (parseScheme(source) === 'data') return step.chain;
  const url = URL.parse(source)?.href.replace(/#.*$/s, '') ?? source;
  if (step.chain.includes(url)) {
    const loop = 'this config references itself through other configs; remove the reference from one of them';
    throw new ResolveError('SLW_RESOLVE_LOOP', place, source, loop);
  }
  return [...step.chain, url];
}

/** Settings for a replacing config: its own; current authorities stay only if it specifies none. */
async function settingsIn(context: LoadContext, step: Step): Promise<FetchSettings> {
  const settings = readFetchSettings(step.config, step.settings);
  const certificateAuthorities = await authoritiesIn(context, step);
  return certificateAuthorities.length === 0 ? settings : { ...settings, certificateAuthorities };
}

/** Settings for a merged config: its own, and its authorities in addition to the current ones. */
function extend(before: FetchSettings, merged: AnyConfig, authorities: readonly string[]): FetchSettings {
  const all = new Set([...before.certificateAuthorities, ...authorities]);
  return { ...readFetchSettings(merged, before), certificateAuthorities: [...all] };
}

/** The certificates of a config, fetched with the trust that applied before. */
async function authoritiesIn(context: LoadContext, { config, place, settings }: Step): Promise<string[]> {
  const pems: string[] = [];
  for (const { path, reference } of authoritySlots(config)) {
    if ((reference.source ?? '') === '') continue;
    const at = atField(atField(place, path), 'source');
    const { bytes } = await load(context, readFetchSettings(config, settings), reference, at);
    const problem = authorityProblem(bytes);
    if (problem !== null) throw new ResolveError('SLW_RESOLVE_CA', at, reference.source ?? '', problem);
    pems.push(new TextDecoder().decode(bytes));
  }
  return pems;
}

/** Merges a child onto a config in the newer of their specs; 2.x configs go to a 3.x spec that can express them. */
function mergeOnto(parent: Contributor, child: Contributor): AnyConfig {
  const version = commonVersion(parent.config.ignition.version, child.config.ignition.version);
  return merge([
    { name: 'parent', config: lift(parent, version) },
    { name: 'child', config: lift(child, version) },
  ]).config;
}

function commonVersion(a: SpecVersion, b: SpecVersion): SpecVersion3 {
  const spec3 = [a, b].map((version) => (isSpec3(version) ? version : '3.1.0'));
  return spec3.reduce((newest, version) => (rankVersion(version) > rankVersion(newest) ? version : newest));
}

function isSpec3(version: SpecVersion): version is SpecVersion3 {
  return version.startsWith('3.');
}

function lift<V extends SpecVersion3>({ config, place }: Contributor, version: V): ConfigOf<V> {
  const lifted = translate(config, version);
  if (lifted.config !== null) return lifted.config;
  const problem = `a ${config.ignition.version} config cannot be merged, because it cannot be expressed in ${version}: ${firstError(lifted.report)}`;
  throw new ResolveError('SLW_RESOLVE_CONFIG', place, '', problem);
}

function firstError(report: Report): string {
  const errors = report.filter((entry) => entry.kind === 'error');
  const [first] = errors;
  if (first === undefined) return 'no reason reported';
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return `${first.path === '' ? '' : `${first.path}: `}${first.message}${more}`;
}
