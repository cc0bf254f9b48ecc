// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Colours of the heat map, which people with any colour vision read alike: cividis on a dark page, and on
// a light one from a pale yellow to its dark end. So "full" stands out on both.
const rgbOf = (hex: string): number[] => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const ON_DARK = ['#00224e', '#35456c', '#666970', '#948e77', '#c8b866', '#fee838'].map(rgbOf);
const ON_LIGHT = ['#fcf6cf', '#d9c97a', '#a89c72', '#777474', '#44506e', '#00224e'].map(rgbOf);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...ALPHABET].map((character, i) => [character, i / (ALPHABET.length - 1)]));

export type Rgb = [number, number, number];

export function heat(level: number, dark: boolean): Rgb {
  const stops = dark ? ON_DARK : ON_LIGHT;
  const at = level * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.max(0, Math.floor(at)));
  const part = Math.min(1, Math.max(0, at - low));
  return [0, 1, 2].map((i) => Math.round(stops[low]![i]! + part * (stops[low + 1]![i]! - stops[low]![i]!))) as Rgb;
}

export const css = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;

function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((each) => {
    const part = each / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

// Whichever of black and white is read better on it.
export const inkOn = (rgb: Rgb): string => (luminance(rgb) > 0.179 ? '#000' : '#fff');

// Of a character of the message `cores`; null: no worker core there.
export const levelOf = (character: string): number | null => VALUES.get(character) ?? null;
