// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import { render } from 'preact';

render(
  <main>
    <h1>ttmem</h1>
    <p>
      <a href="/api">What programs can ask for</a>
    </p>
  </main>,
  document.getElementById('page')!,
);
