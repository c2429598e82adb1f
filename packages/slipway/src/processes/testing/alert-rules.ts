// The alert rules that Slipway ships, as the Prometheus operator reads them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { array, type Decoded, decodeValue, literal, object, oneOf, string } from '@slipway/base/codec';
import { parse } from 'yaml';

export const root = join(import.meta.dirname, '../../../../..');
const folder = join(root, 'deploy/monitoring');

const rule = object({
  alert: string({ pattern: /^Slipway[A-Z][A-Za-z]+$/ }),
  expr: string(),
  for: string({ pattern: /^[1-9]\d*[smh]$/ }),
  labels: object({ severity: oneOf(['info', 'warning', 'critical']) }),
  annotations: object({ summary: string(), description: string(), runbook_url: string() }),
});

const prometheusRule = object({
  apiVersion: literal('monitoring.coreos.com/v1'),
  kind: literal('PrometheusRule'),
  metadata: object({
    name: string(),
    namespace: string(),
    labels: object({ prometheus: literal('k8s'), role: literal('alert-rules') }),
  }),
  spec: object({ groups: array(object({ name: string(), rules: array(rule) })) }),
});

export type Alert = Decoded<typeof rule>;

export interface RuleFile {
  readonly file: string;
  readonly text: string;
  /** Including fields that no one knows. */
  readonly raw: unknown;
  readonly content: Decoded<typeof prometheusRule>;
}

export const ruleFiles: readonly RuleFile[] = readdirSync(folder).map((file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const raw: unknown = parse(text);
  const decoded = decodeValue(prometheusRule, raw);
  if (!decoded.ok) throw new Error(`deploy/monitoring/${file}: ${JSON.stringify(decoded)}`);
  return { file, text, raw, content: decoded.value };
});

export const ruleGroups = ruleFiles.flatMap(({ content }) => content.spec.groups);
export const alerts: readonly Alert[] = ruleGroups.flatMap(({ rules }) => rules);

/** A metric in an expression, and the labels by which it is selected. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels that it aggregates or matches by. */
  readonly grouping: readonly string[];
}

const GROUPING_PATTERN = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)/g;
const SELECTOR_PATTERN = /\b([a-zA-Z_:][\w:]*)\b(?!\s*\()\s*(?:\{([^{}]*)\})?/g;
const operators: ReadonlySet<string> = new Set(['and', 'or', 'unless', 'bool', 'offset']);

/** As much of PromQL as our rules use. */
export function readExpression(expr: string): Expression {
  const bare = expr.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^[\]]*\]/g, '');
  const names = (list: string): string[] => list.split(',').flatMap((each) => /[a-zA-Z_]\w*/.exec(each) ?? []);
  const grouping = [...bare.matchAll(GROUPING_PATTERN)].flatMap(([, list = '']) => names(list));
  const selectors = [...bare.replaceAll(GROUPING_PATTERN, ' ').matchAll(SELECTOR_PATTERN)]
    .map(([, metric = '', matchers = '']) => ({ metric, labels: names(matchers) }))
    .filter(({ metric }) => !operators.has(metric));
  return { selectors, grouping };
}
