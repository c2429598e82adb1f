import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { firstBootConfig } from '@slipway/fleet';
import type { JoiningNode } from '@slipway/fleet';
import type { MachineConfig } from '@slipway/api';
import { parse, translate, validate } from '@slipway/ignition';
import type { AnyConfig, SpecVersion } from '@slipway/ignition';
import { ServerError } from './errors.ts';
import type { Form } from './route.ts';

/** The bytes of one spec version in both forms, or why the config cannot be said in it. */
export type Answer = ({ ok: true } & Readonly<Record<Form, Buffer>>) | { ok: false; message: string };

/** Everything a pool's new machines may ask for, of one rendered config. */
export interface PoolAnswers {
  readonly rendered: string;
  /** The version's bytes; those of versions that hardly anybody asks for are made at the first ask. */
  answerIn(version: SpecVersion): Promise<Answer>;
  /** How many bytes are held. */
  size(): number;
}

/** What the clients in use ask for: no header, Ignition 2.14, 2.15 to 2.19, 2.20 to 2.25, and later ones. */
const usual: readonly SpecVersion[] = ['3.5.0', '3.3.0', '3.4.0', '3.6.0', '2.2.0'];

const pack = promisify(gzip);

/** Throws where no version can be made of it; one that a single version cannot say is that version's answer. */
export async function prepareAnswers(rendered: MachineConfig, node: JoiningNode): Promise<PoolAnswers> {
  const { name } = rendered.metadata;
  const config = await firstBootConfig(rendered, node);
  const problem = validate(config).find(({ kind }) => kind === 'error');
  if (problem !== undefined) {
    throw new ServerError(
      'SLW_SERVER_PREPARE',
      `MachineConfig ${name} cannot be given to a machine together with the files it needs to join: ${problem.path}: ${problem.message}. Change the MachineConfig that sets it`,
    );
  }
  const answers = new Map<SpecVersion, Promise<Answer>>();
  let held = 0;

  function prepare(from: AnyConfig, version: SpecVersion): Promise<Answer> {
    const answer = prepareAnswer(from, version, name);
    answers.set(version, answer);
    return answer.then((made) => {
      if (made.ok) held += made.plain.length + made.gzip.length;
      return made;
    });
  }

  // One after the other, with room for requests between them.
  for (const version of usual) await prepare(config, version);
  const base = await answers.get('3.5.0');

  return {
    rendered: name,
    answerIn: (version) => answers.get(version) ?? prepare(configIn(base), version),
    size: () => held,
  };
}

/** The config out of its bytes: it is seldom asked for again, and need not be held twice. */
function configIn(base: Answer | undefined): AnyConfig {
  const parsed = base?.ok === true ? parse(base.plain) : undefined;
  if (parsed === undefined || parsed.config === null) throw new Error('the prepared config of 3.5.0 cannot be read');
  return parsed.config;
}

async function prepareAnswer(from: AnyConfig, version: SpecVersion, name: string): Promise<Answer> {
  const { config, report } = translate(from, version);
  if (config === null) {
    const fields = report.filter(({ kind }) => kind === 'error').map(({ path, message }) => `${path}: ${message}`);
    return {
      ok: false,
      message: `MachineConfig ${name} cannot be said in spec ${version}: ${fields.slice(0, 3).join('; ')}. Boot an image with a newer Ignition, or take the field out of the pool’s MachineConfigs`,
    };
  }
  const plain = Buffer.from(JSON.stringify(config));
  return { ok: true, plain, gzip: await pack(plain) };
}
