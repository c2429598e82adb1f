import { posix } from 'node:path';
import { type FileSystem, instantiate, parseUnitName, readText, toTemplate } from '@slipway/daemon/host';

export interface PresetRule {
  readonly action: 'enable' | 'disable' | 'ignore';
  readonly pattern: string;
  readonly instances: readonly string[];
}

/** The preset of a unit. `units`: the unit itself, or the instances that the rule names for a template. */
export interface PresetDecision {
  readonly action: PresetRule['action'];
  readonly units: readonly string[];
}

const DIRECTORIES = ['/etc', '/run', '/usr/local/lib', '/usr/lib'].map((top) => `${top}/systemd/system-preset`);
const MAX_PRESET_BYTES = 1024 * 1024;

export async function readPresetRules(files: FileSystem): Promise<PresetRule[]> {
  const byName = new Map<string, string>();
  for (const directory of DIRECTORIES.toReversed()) {
    for (const name of await files.list(directory)) {
      if (name.endsWith('.preset')) byName.set(name, posix.join(directory, name));
    }
  }
  const paths = [...byName.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
  const texts = await Promise.all(paths.map((path) => readText(files, path, MAX_PRESET_BYTES)));
  return texts.flatMap((text) => parsePresetRules(text ?? ''));
}

export function parsePresetRules(text: string): PresetRule[] {
  return text.split('\n').flatMap((line) => {
    const [action, pattern, ...instances] = line.trim().split(/\s+/);
    if (action !== 'enable' && action !== 'disable' && action !== 'ignore') return [];
    return pattern === undefined ? [] : [{ action, pattern, instances }];
  });
}

/** The first matching rule counts. Without one, the unit is enabled. */
export function evaluatePresets(rules: readonly PresetRule[], unit: string): PresetDecision {
  for (const rule of rules) {
    const units = matchUnits(rule, unit);
    if (units !== null) return { action: rule.action, units };
  }
  return { action: 'enable', units: [unit] };
}

function matchUnits(rule: PresetRule, unit: string): string[] | null {
  if (rule.instances.length === 0) return matches(rule.pattern, unit) ? [unit] : null;
  if (matches(rule.pattern, unit)) return rule.instances.map((instance) => instantiate(unit, instance));
  const template = toTemplate(unit);
  const isNamed = rule.instances.includes(parseUnitName(unit).instance ?? '');
  return template !== undefined && isNamed && matches(rule.pattern, template) ? [unit] : null;
}

/** Shell patterns, as in fnmatch(3). */
function matches(pattern: string, name: string): boolean {
  if (!/[*?[]/.test(pattern)) return pattern === name;
  const expression = pattern.replaceAll(/\[!?[^\]]+\]|[\s\S]/g, (part) => {
    if (part === '*') return '.*';
    if (part === '?') return '.';
    if (part.length > 1) return part.replace('[!', '[^').replaceAll('\\', '\\\\');
    return part.replace(/[\\^$.|+()[\]{}/]/, String.raw`\$&`);
  });
  return new RegExp(`^${expression}$`, 's').test(name);
}
