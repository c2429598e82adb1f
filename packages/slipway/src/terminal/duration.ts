const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** As people say it: the two largest units, `2 h 5 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole} s`;
  // Past a minute, seconds are noise; what rounds up to the next unit is said in it.
  const minutes = Math.round(whole / MINUTE);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return pair(hours, 'h', minutes % 60, 'min');
  const allHours = Math.round(whole / HOUR);
  return pair(Math.floor(allHours / 24), 'd', allHours % 24, 'h');
}

const pair = (large: number, unit: string, small: number, smaller: string): string =>
  small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;
