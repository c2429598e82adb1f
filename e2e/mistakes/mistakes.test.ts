// A table of mistakes that people make in manifests: what each command says, and that all of them agree.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allCases, groups, type Judge, lineOf } from './cases.ts';
import { judgeCase, withDirectory } from './judge.ts';
import { codeOf, findFaults, formatMessages, type Judged, readServerVerdicts } from './messages.ts';

const judged = new Map<string, Judged>();
beforeAll(async () => {
  const server = readServerVerdicts();
  await withDirectory(async (directory) => {
    for (const mistake of allCases) {
      judged.set(mistake.id, { commands: await judgeCase(directory, mistake), server: server.get(mistake.id) });
    }
  });
}, 120_000);

const verdictsOf = (id: string): Judged => {
  const verdicts = judged.get(id);
  if (verdicts === undefined) throw new Error(`no verdicts on ${id}`);
  return verdicts;
};

/** A judge of a case, compared with `slipway validate`. */
interface Vote {
  readonly id: string;
  readonly group: string;
  readonly judge: Judge;
  readonly ok: boolean;
  readonly agrees: boolean;
}

function votesOn(group: string, id: string): Vote[] {
  const { commands, server } = verdictsOf(id);
  const found: [Judge, boolean][] = [...commands].map(([command, { ok }]) => [command, ok]);
  if (server !== undefined) found.push(['server', server === 'accepts']);
  const expected = commands.get('validate')?.ok;
  return found.map(([judge, ok]) => ({ id, group, judge, ok, agrees: ok === expected }));
}

const allVotes = (): Vote[] => groups.flatMap(({ name, cases }) => cases.flatMap(({ id }) => votesOn(name, id)));

const linesOf = (id: string): string[] => [...verdictsOf(id).commands.values()].flatMap(({ lines }) => lines);

describe('the table', () => {
  it('has at least 160 mistakes and 15 correct manifests, each under a name of its own', () => {
    expect(allCases.filter(({ correct }) => correct !== true).length).toBeGreaterThanOrEqual(160);
    expect(allCases.filter(({ correct }) => correct === true).length).toBeGreaterThanOrEqual(15);
    expect(new Set(allCases.map(({ id }) => id)).size).toBe(allCases.length);
  });

  it('shows a line of the manifest for each', () => {
    const wrong = allCases.filter((each) => each.line !== undefined && !each.manifest.includes(lineOf(each)));
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('has an answer of the API server for each', () => {
    const missing = allCases.filter(({ id }) => verdictsOf(id).server === undefined).map(({ id }) => id);
    expect(missing, 'write server.txt with: npm test -- e2e/mistakes -u').toEqual([]);
  });
});

describe('messages', () => {
  it('are those of messages.txt', async () => {
    await expect(formatMessages(judged)).toMatchFileSnapshot('messages.txt');
  });

  it('have no code of a library, pattern, position, secret or path of the program, are short, and say what to do', () => {
    const faults = allCases.flatMap(({ id }) =>
      [...verdictsOf(id).commands.values()].flatMap(({ ok, lines }) =>
        lines.flatMap((line) => findFaults(line, !ok).map((fault) => `${id}: ${fault}: ${line}`)),
      ),
    );
    expect([...new Set(faults)]).toEqual([]);
  });

  it('of errors end with a code that docs/errors.md explains', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');
    const wrong = allCases.flatMap(({ id }) =>
      [...verdictsOf(id).commands.values()]
        .filter(({ ok }) => !ok)
        .flatMap(({ lines }) => (lines.some((line) => page.includes(`### ${codeOf(line)}\n`)) ? [] : [id])),
    );
    expect([...new Set(wrong)]).toEqual([]);
    const unexplained = allCases.flatMap(({ id }) => linesOf(id)).map(codeOf);
    expect([...new Set(unexplained)].filter((code) => code !== undefined && !page.includes(`### ${code}\n`))).toEqual(
      [],
    );
  });
});

describe('verdicts', () => {
  it('on correct manifests are that they are correct', () => {
    const correct = new Set(allCases.filter((each) => each.correct === true).map(({ id }) => id));
    expect([...correct].flatMap(linesOf)).toEqual([]);
    const refused = allVotes().filter(({ id, ok }) => correct.has(id) && !ok);
    expect(refused.map(({ id, judge }) => `${judge} refuses ${id}`)).toEqual([]);
  });

  it('on mistakes are an error or a warning, or the table says why not', () => {
    const wrong = allCases
      .filter(({ correct }) => correct !== true)
      .filter(({ id, accepted }) => (linesOf(id).length === 0) !== (accepted !== undefined));
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('are the same for all commands and for the API server, or the table says why not', () => {
    const unexplained = groups.flatMap((group) =>
      group.cases.flatMap(({ id, differs }) => {
        const reasons = { ...group.differs, ...differs };
        return votesOn(group.name, id).filter(({ judge, agrees }) => !agrees && !Object.hasOwn(reasons, judge));
      }),
    );
    const texts = unexplained.map(({ id, judge, ok }) => `${id}: ${judge} ${ok ? 'accepts' : 'refuses'} it`);
    expect(texts).toEqual([]);
  });

  it('differ where the table gives a reason', () => {
    const different = allVotes().filter(({ agrees }) => !agrees);
    const isOutdated = (field: 'group' | 'id', name: string, judge: string): boolean =>
      !different.some((vote) => vote[field] === name && vote.judge === judge);
    const outdated = [
      ...groups.map(({ name, differs = {} }) => ({ field: 'group', name, differs }) as const),
      ...allCases.map(({ id, differs = {} }) => ({ field: 'id', name: id, differs }) as const),
    ].flatMap(({ field, name, differs }) =>
      Object.keys(differs).flatMap((judge) => (isOutdated(field, name, judge) ? [`${name}: ${judge}`] : [])),
    );
    expect(outdated).toEqual([]);
  });
});
