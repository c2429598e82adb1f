import { describe, expect, it } from 'vitest';
import { routeOf } from './decide.ts';

const config = (pool: string, form = 'plain') => ({ to: 'config', pool, form });

describe('where a request leads', () => {
  it.each([
    ['GET', '/config/worker', config('worker')],
    ['HEAD', '/config/worker', config('worker')],
    ['GET', '/config/gpu-2.rack', config('gpu-2.rack')],
    ['GET', '/config/worker?compression=gzip', config('worker', 'gzip')],
    ['GET', '/config/worker?a=1&compression=gzip', config('worker', 'gzip')],
    ['GET', '/config/worker?compression=br', config('worker')],
    ['GET', '/config/worker?nocompression=gzip', config('worker')],
    ['GET', '/healthz', { to: 'health' }],
    ['HEAD', '/healthz?a', { to: 'health' }],
    ['POST', '/config/worker', { to: 'method' }],
    ['OPTIONS', '/healthz', { to: 'method' }],
    ['POST', '/', { to: 'nothing' }],
    ['GET', '/', { to: 'nothing' }],
    ['GET', '/config/', { to: 'nothing' }],
    ['GET', '/config/worker/', { to: 'nothing' }],
    ['GET', '/config/../worker', { to: 'nothing' }],
    ['GET', '/config/%77orker', { to: 'nothing' }],
    ['GET', '/config/Worker', { to: 'nothing' }],
    ['GET', `/config/${'a'.repeat(254)}`, { to: 'nothing' }],
    ['GET', '//config/worker', { to: 'nothing' }],
    ['GET', 'https://example.com/config/worker', { to: 'nothing' }],
    ['GET', undefined, { to: 'nothing' }],
    [undefined, '/healthz', { to: 'method' }],
  ])('%s %s', (method, url, route) => {
    expect(routeOf(method, url)).toEqual(route);
  });
});
