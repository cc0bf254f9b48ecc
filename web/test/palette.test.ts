// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The eight colours of the style sheet are told apart by people with any colour vision, and seen on the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const css = readFileSync(`${process.env['TTMEM_WEB']}/src/style.css`, 'utf8');
const NAMES = ['dram', 'l1', 'program', 'application', 'fabric', 'dispatch', 'ring', 'trace'];
type Colour = [number, number, number];

// Red, green and blue as light, 0 to 1.
const linear = (hex: string): Colour =>
  [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as Colour;

function themeOf(selector: string): Map<string, string> {
  const block = css.slice(css.indexOf(`${selector} {`)).split('}')[0]!;
  return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name!, value!]));
}

const times = (matrix: number[][], colour: Colour): Colour => matrix.map((row) => row.reduce((sum, each, i) => sum + each * colour[i]!, 0)) as Colour;

// Machado, Oliveira and Fernandes 2009, severity 1.
const VISIONS: Record<string, number[][]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function oklab(colour: Colour): Colour {
  const cones = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], colour.map((c) => Math.min(1, Math.max(0, c))) as Colour).map(Math.cbrt) as Colour;
  return times([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]], cones);
}

const distance = (a: Colour, b: Colour): number => 100 * Math.hypot(...a.map((each, i) => each - b[i]!));
const luminance = ([r, g, b]: Colour): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function contrast(a: Colour, b: Colour): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

for (const selector of [':root', ":root[data-theme='dark']"]) {
  const theme = themeOf(selector);
  const colour = (name: string): Colour => linear(theme.get(name)!);

  test(`${selector}: every colour is seen on the page`, () => {
    for (const name of NAMES) assert.ok(contrast(colour(name), colour('page')) >= 2.95, `${name} ${contrast(colour(name), colour('page'))}`);
    for (const name of ['ink', 'quiet', 'bad', 'warn', 'good', 'accent']) assert.ok(contrast(colour(name), colour('page')) >= 4.5, name);
  });

  for (const [vision, matrix] of Object.entries(VISIONS)) {
    test(`${selector}: no two are alike, ${vision}`, () => {
      NAMES.forEach((a, i) => NAMES.slice(i + 1).forEach((b) => {
        const apart = distance(oklab(times(matrix, colour(a))), oklab(times(matrix, colour(b))));
        assert.ok(apart >= 10, `${a} and ${b}: ${apart.toFixed(1)}`);
      }));
    });
  }
}
