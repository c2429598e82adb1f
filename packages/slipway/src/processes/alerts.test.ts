// The alert rules in deploy/monitoring fit the metrics that our programs export, and each has a page for the night.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ControllerDef, createMetrics, type Metrics, silentLog } from '@slipway/kube';
import { startServer } from '@slipway/server';
import { createFakeGates } from '@slipway/testing/gates';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { defaultSettings } from './command.ts';
import { buildControllers } from './controllers.ts';
import { alerts, readExpression, root, ruleFiles, ruleGroups } from './testing/alert-rules.ts';

/** Labels that Prometheus adds to every series when it scrapes pods. */
const ofTargets = ['namespace', 'exported_namespace', 'job'];

function buildAllControllers(metrics: Metrics): ControllerDef[] {
  const ironic = { open: () => expect.unreachable('no host is managed here'), besideOperator: false };
  return buildControllers('slipway', { ...defaultSettings, ironic }, { gates: createFakeGates(), metrics });
}

const controllerMetrics = (): Metrics => {
  const metrics = createMetrics();
  buildAllControllers(metrics);
  return metrics;
};

async function serverMetrics(): Promise<Metrics> {
  const metrics = createMetrics();
  const inputs = { pools: new Map(), tokens: new Map(), node: undefined, certificate: undefined, problems: [] };
  const server = startServer({
    source: {
      read: () => inputs,
      load: () => expect.unreachable('there are no pools'),
      onChange: () => () => {},
      isBehind: () => false,
    },
    listen: { host: '127.0.0.1', port: 0 },
    allowAnonymous: false,
    metrics,
    log: silentLog(),
  });
  await server.stop();
  return metrics;
}

/** The labels of every metric that the controllers and the server export. */
async function readExportedLabels(): Promise<ReadonlyMap<string, readonly string[]>> {
  const registries = [controllerMetrics(), await serverMetrics()].map(({ registry }) => registry);
  return new Map(
    registries
      .flatMap((registry) => registry.getMetricsAsArray())
      .map((metric) => [metric.name, 'labelNames' in metric ? (metric.labelNames as string[]) : []]),
  );
}

describe('the alert rules', () => {
  it('have only fields that the Prometheus operator knows, and unique names', () => {
    for (const { raw, content } of ruleFiles) expect(content).toEqual(raw);
    for (const names of [ruleGroups.map(({ name }) => name), alerts.map(({ alert }) => alert)])
      expect(names).toEqual([...new Set(names)]);
  });

  it('use only metrics and labels that the controllers or the server export', async () => {
    const exported = await readExportedLabels();
    const unknown = alerts.flatMap(({ alert, expr }) => {
      const { selectors, grouping } = readExpression(expr);
      const known = new Set([...selectors.flatMap(({ metric }) => exported.get(metric) ?? []), ...ofTargets]);
      const used = [...selectors.flatMap(({ labels }) => labels), ...grouping];
      const missing = selectors.filter(({ metric }) => !exported.has(metric)).map(({ metric }) => metric);
      return [...missing, ...used.filter((label) => !known.has(label))].map((name) => `${alert}: ${name}`);
    });
    expect(unknown).toEqual([]);
  });

  it('know the controller that SlipwayControllersDown asks for by its name', () => {
    const names = buildAllControllers(createMetrics()).map(({ name }) => name);
    const asked = alerts.flatMap(({ expr }) => [...expr.matchAll(/subcontroller="([^"]*)"/g)].map(([, name]) => name));
    expect(asked).toHaveLength(1);
    expect(names).toEqual(expect.arrayContaining(asked));
  });

  it('are separate documents, also in one stream, as docs/alerts.md applies them', () => {
    const documents = parseAllDocuments(ruleFiles.map(({ text }) => text).join(''));
    expect(documents.map((document): unknown => document.toJS())).toEqual(ruleFiles.map(({ raw }) => raw));
  });

  it('have texts of one line and of a few sentences, which name only labels that the alert has', () => {
    for (const { expr, annotations } of alerts) {
      const { summary, description } = annotations;
      expect(summary).toMatch(/^.{20,120}\.$/);
      expect(description).toMatch(/^.{80,500}\.$/);
      const named = [...`${summary} ${description}`.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
      expect(readExpression(expr).grouping).toEqual(expect.arrayContaining(named));
    }
  });
});

describe('expressions', () => {
  it.each([
    ['metric > 0', ['metric'], []],
    ['max by (a, b) (metric{c="d,e",f=~"g"}) == 1', ['metric: c, f'], ['a', 'b']],
    ['sum by (a) (increase(one[5m])) > 0 unless on (a) two{b!="x"}', ['one', 'two: b'], ['a', 'a']],
    ['absent(one{a="{b}"} == 1) or two', ['one: a', 'two'], []],
  ])('%s is read', (expr, selectors, grouping) => {
    const read = readExpression(expr);
    const texts = read.selectors.map(({ metric, labels }) => [metric, labels.join(', ')].filter(Boolean).join(': '));
    expect([texts, read.grouping]).toEqual([selectors, grouping]);
  });
});

describe('the runbooks', () => {
  const folder = join(root, 'docs/runbooks');
  const pages = readdirSync(folder);
  const questions = ['What it means', 'What users notice', 'Diagnose', 'Resolve', 'When it clears'];

  it('are one page for each alert, and each alert names its page', () => {
    expect(pages.toSorted()).toEqual(alerts.map(({ alert }) => `${alert}.md`).toSorted());
    for (const { alert, annotations } of alerts) expect(annotations.runbook_url).toBe(`docs/runbooks/${alert}.md`);
  });

  it('answer the questions of a night, always in this order', () => {
    for (const page of pages) {
      const text = readFileSync(join(folder, page), 'utf8');
      const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
      expect(headings).toEqual([page.replace('.md', ''), ...questions]);
      const [, diagnose] = /^## Diagnose$([^]*?)^## /m.exec(text) ?? [];
      expect(`${page}: ${diagnose}`).toMatch(/^```sh$/m);
    }
  });

  it('are all listed in docs/alerts.md, with their severity and duration', () => {
    const list = readFileSync(join(root, 'docs/alerts.md'), 'utf8');
    for (const { alert, labels, for: duration } of alerts)
      expect(list).toContain(`| [${alert}](runbooks/${alert}.md) | ${labels.severity} | ${duration} |`);
  });
});
