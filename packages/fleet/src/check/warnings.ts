// What the API server accepts and the controllers take, and is probably a mistake: a private key among the public ones, a
// password instead of its hash, a unit file without a section, an OS image that no registry serves, and settings of a
// pool that the controllers replace by something safe.
import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import { quote } from '@slipway/base/text';
import type { RenderInput } from '../render/input.ts';
import { fieldOfConfig, nameOfMachineConfig, problemAt } from '../render/problem.ts';
import { whySelectorRefused } from '../render/select.ts';
import { maxUnavailableProblem, parseRolloutPolicy } from '../rollout/policy.ts';
import type { Finding } from './check-object.ts';

interface Doubt {
  readonly field: string;
  readonly text: string;
}

export function machineConfigWarnings({ metadata, spec = {} }: MachineConfig, { config }: RenderInput): Finding[] {
  const object = nameOfMachineConfig(metadata.name);
  const doubts = [
    ...userDoubts(config),
    ...unitDoubts(config),
    ...imageDoubts('osImageURL', spec.osImageURL),
    ...imageDoubts('baseOSExtensionsContainerImage', spec.baseOSExtensionsContainerImage),
  ];
  const warn = ({ field, text }: Doubt): Finding => {
    return { severity: 'warning', ...problemAt('SLW_RENDER_DOUBTFUL', object, field, text) };
  };
  return doubts.map(warn);
}

type Config = RenderInput['config'];

const inConfig = (path: string, text: string): Doubt => ({ field: fieldOfConfig(path), text });

/** Options may come before the type of the key. */
const PUBLIC_KEY = /(?:^|\s)(?:ssh|ecdsa|sk)-[\w.@-]+[ \t]+AAAA/;

function userDoubts({ passwd: { users = [] } = {} }: Config): Doubt[] {
  return users.flatMap(({ sshAuthorizedKeys = [], passwordHash }, index) => {
    const at = `passwd.users[${index}]`;
    const keys = sshAuthorizedKeys.flatMap((key, number) => {
      const why = whyNoPublicKey(key);
      return why === null ? [] : [inConfig(`${at}.sshAuthorizedKeys[${number}]`, why)];
    });
    if (!isPlainText(passwordHash)) return keys;
    return [
      ...keys,
      inConfig(`${at}.passwordHash`, 'expected a hash such as mkpasswd prints, found a text. Write the hash'),
    ];
  });
}

/** Never shows the key. */
function whyNoPublicKey(key: string): string | null {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
    return 'it is a private key, and everyone who may read the MachineConfig has it now. Write the public key of a new pair';
  }
  if (PUBLIC_KEY.test(key) || key.trim() === '' || key.startsWith('#')) return null;
  return 'expected a public key such as ssh-ed25519 AAAA…, found another text. Write the contents of the .pub file';
}

/** Hashes start with $ or _, and a locked password with ! or *. */
const isPlainText = (hash: string | null | undefined): boolean =>
  typeof hash === 'string' && hash !== '' && !/^[$_!*]/.test(hash);

function unitDoubts({ systemd: { units = [] } = {} }: Config): Doubt[] {
  return units.flatMap(({ contents, dropins = [] }, index) => {
    const files = [
      { at: `systemd.units[${index}].contents`, text: contents },
      ...dropins.map((dropin, number) => {
        return { at: `systemd.units[${index}].dropins[${number}].contents`, text: dropin.contents };
      }),
    ];
    return files.filter(({ text }) => hasNoSection(text)).map(({ at }) => inConfig(at, NO_SECTION));
  });
}

const NO_SECTION =
  'it has no section, so systemd ignores all of it. Start it with [Unit], [Service] or another section';

/** Comments and empty lines alone override a unit on purpose. */
const hasNoSection = (text: string | null | undefined): boolean =>
  typeof text === 'string' && !/^\s*\[/m.test(text) && /^\s*[^\s#;]/m.test(text);

const IMAGE = /^[\w.-]+(?::\d+)?(?:\/[a-z0-9._-]+)+(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?$/;

function imageDoubts(name: string, image = ''): Doubt[] {
  if (image === '' || (IMAGE.test(image) && image.includes('@'))) return [];
  const found = IMAGE.test(image)
    ? `${quote(image)} names no digest, so machines may run different images`
    : `no registry serves ${quote(image)}`;
  const text = `${found}. Write it as registry.example.com/team/image@sha256:… with its 64 digits`;
  return [{ field: `spec.${name}`, text }];
}

export function poolWarnings(pool: MachineConfigPool): Finding[] {
  const object = `MachineConfigPool ${pool.metadata.name}`;
  return [...settingWarnings(pool, object), ...nodeSelectorWarnings(pool, object)];
}

function settingWarnings({ metadata, spec }: MachineConfigPool, object: string): Finding[] {
  const limit = maxUnavailableProblem(metadata.name, spec.maxUnavailable);
  const findings: Finding[] = parseRolloutPolicy(metadata.annotations).problems.map(({ code, message }) => {
    return { severity: 'warning', code, object, field: 'metadata.annotations', message: `${object}, ${message}` };
  });
  return limit === null
    ? findings
    : [
        { severity: 'warning', code: limit.code, object, field: 'spec.maxUnavailable', message: limit.message },
        ...findings,
      ];
}

function nodeSelectorWarnings({ spec: { nodeSelector } }: MachineConfigPool, object: string): Finding[] {
  const refusal = nodeSelector === undefined ? null : whySelectorRefused(nodeSelector);
  if (refusal === null) return [];
  const text = `${refusal.problem}. Until you correct it, the pool has no nodes`;
  return [
    { severity: 'warning', ...problemAt('SLW_RENDER_SELECTOR', object, `spec.nodeSelector.${refusal.field}`, text) },
  ];
}
