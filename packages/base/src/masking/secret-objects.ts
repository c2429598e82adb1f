// Secrets of Kubernetes in manifests: every value of `data` and `stringData`, whatever its name is.
import { HIDDEN, hideLine, indentOf, isHarmlessValue } from './secret-names.ts';

const KIND = /\bkind\\{0,3}["']?\s{0,8}:\s{0,8}\\{0,3}["']?Secret\b(?![\w.-])/;
const KIND_LINE = /^[+\-\s#;]{0,256}["']?kind["']?\s{0,8}:\s{0,8}["']?Secret["']?\s{0,8},?\s{0,8}$/;
const MAP_LINE = /^[+\-\s#;]{0,256}["']?(?:data|stringData)["']?\s{0,8}:\s{0,8}(?:\{\s{0,8})?$/;
const VALUE_LINE = /^([+\-\s#;]{0,256}["']?[\w.-]{1,253}["']?\s{0,8}:\s{0,8})(["']?)([^\n]*?)(["']?,?\s{0,8})$/;
const END_OF_DOCUMENT = /^[+\-\s#;]{0,256}---(?:\s|$)/;

/** Changes and returns the list. */
export function maskSecretObjects(lines: string[]): string[] {
  if (!lines.some((line) => KIND.test(line))) return lines;
  let first = 0;
  for (let index = 0; index <= lines.length; index += 1) {
    const line = lines[index];
    if (line !== undefined && !END_OF_DOCUMENT.test(line)) continue;
    maskDocument(lines, first, index);
    first = index + 1;
  }
  return lines;
}

function maskDocument(lines: string[], first: number, end: number): void {
  let isSecret = false;
  for (let index = first; index < end; index += 1) {
    const line = lines[index] ?? '';
    if (KIND_LINE.test(line)) isSecret = true;
    else if (KIND.test(line)) lines[index] = maskInLine(line);
  }
  if (!isSecret) return;
  /** The indentation of the map that the lines are in. */
  let map: number | null = null;
  for (let index = first; index < end; index += 1) {
    const line = lines[index] ?? '';
    if (map !== null && line.trim() !== '' && indentOf(line) <= map) map = null;
    if (map !== null) lines[index] = maskValue(line);
    else if (MAP_LINE.test(line)) map = indentOf(line);
  }
}

function maskValue(line: string): string {
  const [, name = '', open = '', value = '', close = ''] = VALUE_LINE.exec(line) ?? [];
  if (name === '') return hideLine(line);
  const isBlock = /^[|>][+\-\d]{0,3}$/.test(value);
  return isBlock || isHarmlessValue(value) ? line : name + open + HIDDEN + close;
}

const INLINE_MAP = /((?:\\{0,3}")?\b(?:data|stringData)(?:\\{0,3}")?\s{0,8}:\s{0,8}\{)([^{}]{1,65536})/g;
const INLINE_VALUE =
  /((?:"[^"\\]{1,253}"|\\{1,3}"[^"\\]{1,253}\\{1,3}"|[\w.-]{1,253})\s{0,8}:\s{0,8})("(?:[^"\\]|\\.)*"|\\{1,3}"[^"\\]*\\{1,3}"|[^\s"\\,]+)/g;

/** An object in one line: JSON, also as a string, or a flow of YAML. */
function maskInLine(line: string): string {
  return line.replaceAll(
    INLINE_MAP,
    (_, start: string, values: string) =>
      start +
      values.replaceAll(INLINE_VALUE, (__, name: string, value: string) => {
        const quote = /^\\{0,3}"/.exec(value)?.[0] ?? '';
        return name + quote + HIDDEN + quote;
      }),
  );
}
