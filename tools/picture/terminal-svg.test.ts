import { styleText } from 'node:util';
import { describe, expect, it } from 'vitest';
import { drawTerminal } from './terminal-svg.ts';

const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
  styleText(style, text, { validateStream: false });

describe('the picture of a terminal', () => {
  it('has each row as text, in its colours', () => {
    const svg = drawTerminal('status', `${paint('bold', 'worker')}: ${paint('green', 'updated')}\n  2 < 3 & more\n`);
    expect(svg).toContain('font-weight="bold">worker</tspan>');
    expect(svg).toContain('fill="#7ee787">updated</tspan>');
    expect(svg).toContain('>  2 &lt; 3 &amp; more</tspan>');
    expect(svg.match(/<text /g)).toHaveLength(2);
  });

  it('returns to plain text where a colour ends, and drops what is no colour', () => {
    const svg = drawTerminal('status', `${paint('dim', 'old')} new\u001b[K ${paint('red', 'bad')} end`);
    expect(svg).toContain('fill="#8b949e">old</tspan>');
    expect(svg).toContain('fill="#e6edf3"> new</tspan>');
    expect(svg).toContain('fill="#ff7b72">bad</tspan>');
    expect(svg).toContain('fill="#e6edf3"> end</tspan>');
    expect(svg).not.toContain('\u001b');
  });
});
