// A terminal's text with its colours as an SVG.

const COLUMN = 8.4;
const ROW = 19;
const PADDING = 16;
const TITLE_ROW = 34;

const FILLS: Readonly<Record<string, string>> = {
  '31': '#ff7b72',
  '32': '#7ee787',
  '33': '#f2cc60',
  '36': '#79c0ff',
};
const PLAIN = '#e6edf3';
const DIM = '#8b949e';

interface Style {
  readonly fill: string;
  readonly isBold: boolean;
}

const DEFAULT_STYLE: Style = { fill: PLAIN, isBold: false };

/** `text` may have the escape sequences of styleText; others are dropped. */
export function drawTerminal(title: string, text: string): string {
  const rows = text.trimEnd().split('\n').map(splitRow);
  const columns = Math.max(...rows.map((row) => row.reduce((length, { text: part }) => length + part.length, 0)));
  const width = Math.ceil(columns * COLUMN + 2 * PADDING);
  const height = TITLE_ROW + rows.length * ROW + PADDING;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, at) => `<circle cx="${PADDING + 6 + at * 18}" cy="18" r="5" fill="${fill}"/>`,
    ),
    '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">',
    ...rows.map((row, at) => drawRow(row, TITLE_ROW + (at + 1) * ROW - 5)),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const ESCAPE = String.fromCodePoint(27);
const PARTS = new RegExp(`${ESCAPE}\\[([0-9;?]*)[A-Za-z]|([^${ESCAPE}]+)`, 'g');

interface Part {
  readonly text: string;
  readonly style: Style;
}

function splitRow(row: string): Part[] {
  let style = DEFAULT_STYLE;
  const parts: Part[] = [];
  for (const [, escape, text = ''] of row.matchAll(PARTS)) {
    if (escape === undefined) parts.push({ text, style });
    else style = applyEscape(style, escape);
  }
  return parts;
}

function applyEscape(style: Style, escape: string): Style {
  if (escape === '1') return { ...style, isBold: true };
  if (escape === '22') return { fill: style.fill === DIM ? PLAIN : style.fill, isBold: false };
  if (escape === '2') return { ...style, fill: DIM };
  if (escape === '39') return { ...style, fill: PLAIN };
  if (escape === '0' || escape === '') return DEFAULT_STYLE;
  return { ...style, fill: FILLS[escape] ?? style.fill };
}

function drawRow(parts: readonly Part[], y: number): string {
  let column = 0;
  const spans = parts.map(({ text, style }) => {
    const x = PADDING + column * COLUMN;
    column += text.length;
    const weight = style.isBold ? ' font-weight="bold"' : '';
    return `<tspan x="${x.toFixed(1)}" fill="${style.fill}"${weight}>${escapeXml(text)}</tspan>`;
  });
  return `<text y="${y}">${spans.join('')}</text>`;
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
