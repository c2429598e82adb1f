import { isRecord } from '@slipway/base/json';
import {
  type AnyConfig,
  cleanPath,
  type ConfigOf,
  findOctalMode,
  isOfVersion,
  maskUrl,
  parse,
  type Report,
  translate,
  validate,
} from '@slipway/ignition';
import { fieldOfConfig, firstProblems, problemAt, problemsIn, type RenderProblem } from './problem.ts';
import { remoteReferences } from './remote.ts';
import { mergeRepeatedEntries } from './repeated-entries.ts';

// File modes: permission bits only. Spec 3.5 does not set setuid, setgid and sticky bits, and a mode with them is
// nearly always an octal number where JSON expects a decimal one.

const MAX_FILE_MODE = 0o777;

/** Why a mode is refused and what to write instead; null if it is valid. */
export function whyModeRefused(mode: number): string | null {
  if (mode >= 0 && mode <= MAX_FILE_MODE) return null;
  const found = `the mode ${mode}${mode < 0 ? '' : ` (octal ${octal(mode)})`} is not between 0 and 511 (octal 0777)`;
  const meant = findOctalMode(mode);
  if (meant === null) return `${found}. Write a mode with permission bits only, such as 420 for octal 0644`;
  return `the mode ${mode} (octal ${octal(mode)}) is decimal: for octal ${octal(meant)} write ${meant}, or ${octal(meant)} in YAML`;
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}

/**
 * The files that the machine config server adds for a machine that joins. In a MachineConfig they would have no effect at
 * first boot, and the machine would differ from its config from the start.
 */
export const serverPaths = {
  nodeAnnotations: '/etc/machine-config-daemon/node-annotations.json',
  kubeconfig: '/etc/kubernetes/kubeconfig',
  caBundle: '/etc/kubernetes/ca.crt',
  encapsulated: '/etc/ignition-machine-config-encapsulated.json',
} as const;

const joiningPaths: ReadonlySet<string> = new Set(Object.values(serverPaths));
/** Other files in that directory are for MachineConfigs, such as no-reboot/containers-gpg.pub. */
const DAEMON_PATHS =
  /^\/etc\/machine-config-daemon\/(?:currentconfig|(?:daemon|baseline|first-boot|pinned-images)\.json|(?:update|update-over|orig|noorig)(?:\/.*)?)$/s;
/** Ignition writes them, and the daemon removes or replaces the last two when the first boot is over. */
const firstBootPaths: ReadonlySet<string> = new Set([
  '/etc/.ignition-result.json',
  '/etc/systemd/system-preset/20-ignition.preset',
  `${serverPaths.encapsulated}.bak`,
]);

/** Who else writes at this path; null: no other program. */
function findOtherWriter(path: string): string | null {
  if (joiningPaths.has(path)) return `the machine config server writes ${path} when a machine joins`;
  if (DAEMON_PATHS.test(path)) return `the daemon of the machine keeps its own state at ${path}`;
  return firstBootPaths.has(path) ? `Ignition or the daemon writes ${path} at the first boot` : null;
}

// Reads the Ignition config of one MachineConfig of any spec version, validates it and translates it to the rendered
// version.

/** The spec version of rendered configs. */
export const RENDERED_VERSION = '3.5.0';

export type RenderedIgnition = ConfigOf<typeof RENDERED_VERSION>;
export type File = NonNullable<NonNullable<RenderedIgnition['storage']>['files']>[number];

export type IgnitionRead =
  | {
      ok: true;
      /** Before it is translated. */
      own: AnyConfig;
      config: RenderedIgnition;
      hasUnknownKeys: boolean;
      /** Without those about unknown keys. */
      warnings: RenderProblem[];
    }
  | { ok: false; problems: RenderProblem[] };

type Translated = { ok: true; config: RenderedIgnition } | { ok: false; problems: RenderProblem[] };

const EMPTY: RenderedIgnition = { ignition: { version: RENDERED_VERSION } };

/** `rendered`: a machine may have one from before a path was reserved, and must be able to leave it. */
export type ConfigOrigin = 'source' | 'rendered';

export function readIgnition(object: string, raw: unknown, origin: ConfigOrigin = 'source'): IgnitionRead {
  if (isNothing(raw)) return { ok: true, own: EMPTY, config: EMPTY, hasUnknownKeys: false, warnings: [] };
  const parsed = typeof raw === 'object' && raw !== null ? parse(raw) : parse(JSON.stringify(raw));
  if (parsed.config === null) {
    return refuse(problemsIn(parsed.report, 'error', { code: 'SLW_RENDER_PARSE', object }));
  }
  const problems = [
    ...modeProblems(object, parsed.config),
    ...(origin === 'source' ? reservedProblems(object, parsed.config) : []),
    ...remoteProblems(object, parsed.config),
  ];
  const validation = validate(parsed.config);
  const known = new Set(problems.map((problem) => problem.field));
  for (const problem of problemsIn(validation, 'error', { code: 'SLW_RENDER_INVALID', object })) {
    if (!known.has(problem.field)) problems.push(problem);
  }
  if (problems.length > 0) return refuse(problems);
  const merged = mergeRepeatedEntries(parsed.config);
  const translated = translateIgnition(object, merged.config);
  if (!translated.ok) return translated;
  const below = origin === 'source' ? belowFiles(translated.config) : [];
  if (below.length > 0) return refuse(problemsIn(below, 'error', { code: 'SLW_RENDER_INVALID', object }));
  const report = [...validation, ...merged.warnings];
  const warnings = problemsIn(report, 'warning', { code: 'SLW_RENDER_IGNITION', object });
  return {
    ok: true,
    own: parsed.config,
    config: translated.config,
    hasUnknownKeys: parsed.report.length > 0,
    warnings,
  };
}

function refuse(problems: readonly RenderProblem[]): { ok: false; problems: RenderProblem[] } {
  return { ok: false, problems: firstProblems(problems) };
}

/** A MachineConfig may have only kernel arguments or OS settings. */
function isNothing(raw: unknown): boolean {
  return raw === undefined || raw === null || (isRecord(raw) && Object.keys(raw).length === 0);
}

function modeProblems(object: string, config: AnyConfig): RenderProblem[] {
  const problems: RenderProblem[] = [];
  for (const [index, { path, mode }] of (config.storage?.files ?? []).entries()) {
    const refusal = mode === undefined ? null : whyModeRefused(mode);
    if (refusal === null) continue;
    const field = fieldOfConfig(`storage.files[${index}].mode`);
    problems.push(problemAt('SLW_RENDER_MODE', object, field, `file ${path.slice(0, 200)}: ${refusal}`));
  }
  return problems;
}

function reservedProblems(object: string, { storage = {} }: AnyConfig): RenderProblem[] {
  return (['files', 'directories', 'links'] as const).flatMap((list) =>
    [...(storage[list] ?? []).entries()].flatMap(([index, { path }]): RenderProblem[] => {
      const writer = findOtherWriter(cleanPath(path));
      if (writer === null) return [];
      const text = `${writer}, so a MachineConfig cannot set it. Remove this entry`;
      return [problemAt('SLW_RENDER_RESERVED', object, fieldOfConfig(`storage.${list}[${index}].path`), text)];
    }),
  );
}

function remoteProblems(object: string, config: AnyConfig): RenderProblem[] {
  return remoteReferences(config).map(({ path, source }) => {
    const found = `expected inline content, found a reference to ${maskUrl(source)}`;
    const remediation =
      'A rendered config cannot refer to remote content: fetch it first, or write it here as a data URL';
    return problemAt('SLW_RENDER_REMOTE', object, fieldOfConfig(path), `${found}. ${remediation}`);
  });
}

/** Ignition does not check for paths below a file, but no machine can create them. */
export function belowFiles(config: RenderedIgnition): Report {
  const { files = [], directories = [], links = [] } = config.storage ?? {};
  const taken = new Set(files.map(({ path }) => path));
  const found: Report = [];
  for (const [list, nodes] of Object.entries({ files, directories, links })) {
    for (const [index, { path }] of nodes.entries()) {
      const above = listAncestors(path).find((ancestor) => taken.has(ancestor));
      if (above === undefined) continue;
      const message = `${path} is below ${above}, which is a file: expected a directory there. Change one of the two`;
      found.push({ kind: 'error', path: `storage.${list}[${index}].path`, message });
    }
  }
  return found;
}

function listAncestors(path: string): string[] {
  const ancestors: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    ancestors.push(path.slice(0, end));
  return ancestors;
}

function translateIgnition(object: string, config: AnyConfig): Translated {
  if (isOfVersion(config, RENDERED_VERSION)) return { ok: true, config: withoutReferences(config) };
  const { config: translated, report } = translate(config, RENDERED_VERSION);
  if (translated !== null) return { ok: true, config: withoutReferences(translated) };
  const wayOut = `Rendered configs use spec ${RENDERED_VERSION}: write it in a way that this version supports`;
  return refuse(problemsIn(report, 'error', { code: 'SLW_RENDER_TRANSLATE', object, wayOut }));
}

/** Removes references to configs that have no source: a machine would ignore them. */
function withoutReferences(config: RenderedIgnition): RenderedIgnition {
  if (config.ignition.config === undefined) return config;
  const { config: _followed, ...ignition } = config.ignition;
  return { ...config, ignition };
}
