/** Games to try the page with: one of 1910, and one between two levels of GNU Go. */

export const EXAMPLES = {
  chess: `[Event "Vienna"]
[Date "1910.??.??"]
[White "Réti"]
[Black "Tartakower"]
[Result "1-0"]

1. e4 c6 2. d4 d5 3. Nc3 dxe4 4. Nxe4 Nf6 5. Qd3 e5 6. dxe5 Qa5+ 7. Bd2 Qxe5 8. O-O-O Nxe4 9. Qd8+ Kxd8 10. Bg5+ Kc7 11. Bd8# 1-0
`,
  go: `(;FF[4]CA[UTF-8]GM[1]SZ[19]EV[An example]PB[GNU Go 3.8 level 0]PW[GNU Go 3.8 level -3]RU[Chinese]KM[7.5]RE[B+39.5]
;B[ok];W[gd];B[mo];W[ei];B[po];W[pf];B[oh];W[qd];B[do];W[lc];B[ko];W[cp];B[pq];W[co];B[dn];W[dp];B[cn];W[cl];B[kg]
;W[fq];B[hq];W[dc];B[ce];W[jq];B[ch];W[ip];B[go];W[mq];B[qh];W[hp];B[mf];W[od];B[bc];W[je];B[gm];W[in];B[km];W[il]
;B[kk];W[eo];B[en];W[gp];B[gk];W[fo];B[el];W[ij];B[ji];W[gi];B[dk];W[ck];B[dj];W[di];B[ci];W[bj];B[bm];W[rg];B[rh]
;W[or];B[pr];W[ff];B[nr];W[mr];B[oq];W[kq];B[bo];W[bp];B[ap];W[aq];B[ao];W[bq];B[qg];W[rf];B[cb];W[db];B[ms];W[ls]
;B[ns];W[cc];B[bb];W[nq];B[os];W[ig];B[ee];W[fb];B[ef];W[lr];B[fg];W[eg];B[fh];W[fi];B[eh];W[ii];B[sg];W[jh];B[kh]
;W[fn];B[bl];W[sf];B[sh];W[qf];B[jj];W[jk];B[lj];W[jm];B[np];W[gh];B[gf];W[dh];B[dg];W[cd];B[bd];W[fe];B[gg];W[ed]
;B[he];W[hd];B[jo];W[gn];B[fm];W[ge];B[hg];W[hh];B[le];W[ke];B[ld];W[kc];B[mc];W[mb];B[nc];W[nb];B[oc];W[pc];B[ob]
;W[pb];B[na];W[la];B[nd];W[oe];B[pa];W[kf];B[ra];W[jg];B[io];W[hm];B[lg];W[de];B[cf];W[lp];B[lo];W[if];B[hf];W[ho]
;B[rc];W[rd];B[rb];W[sd];B[hk];W[ie];B[eg];W[ne];B[lf];W[kl];B[ll];W[jl];B[jn];W[hl];B[kd];W[jc];B[gl];W[jd];B[da]
;W[ea];B[ca];W[pg];B[ph];W[nf];B[ng];W[hj];B[og];W[sc];B[ej];W[fj];B[fk];W[sb];B[qc];W[lm];B[kn];W[dd];B[df];W[pd]
;B[qa];W[mp];B[mm];W[no];B[op];W[ma];B[oa];W[ik];B[mn];W[kp];B[md];W[of];B[gj];W[qb];B[sa];W[me];B[jp];W[hr];B[]
;W[])`,
};
