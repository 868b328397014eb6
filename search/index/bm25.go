package index

import "math"

// BM25 holds the parameters of the ranking function.
//
// The function is that of Robertson and Zaragoza ("The Probabilistic Relevance
// Framework: BM25 and Beyond", 2009) with the idf that Lucene and tantivy use,
// which is never negative:
//
//	idf   = ln(1 + (N - df + 0.5) / (df + 0.5))
//	score = idf * (k1+1)*tf / (tf + k1*(1 - b + b*dl/avgdl))
//
// N and avgdl count the live documents of all segments searched, df those of
// them that have the term, and dl is exact. The score of a document is the sum
// over the terms, each rounded to a 32-bit float.
type BM25 struct {
	K1, B float64
}

// DefaultBM25 is what a search uses when its options give no parameters.
var DefaultBM25 = BM25{K1: 1.2, B: 0.75}

// IDF returns the inverse document frequency of a term in df of n documents.
func (BM25) IDF(n, df int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// Score returns the score of a term that occurs tf times in a document of
// length dl, where documents have avg tokens on average.
func (m BM25) Score(idf, tf, dl, avg float64) float64 {
	return m.impact(idf, tf, m.norm(dl, avg))
}

func (m BM25) norm(dl, avg float64) float64 {
	if avg <= 0 {
		return m.K1
	}
	return m.K1 * (1 - m.B + m.B*dl/avg)
}

// impact is the score of a term. It is rounded to float32 so that sums in
// float64 are exact: the score of a document, and with it the order of results,
// does not depend on the order in which terms are added up.
func (m BM25) impact(idf, tf, norm float64) float64 {
	return float64(float32(idf * tf * (m.K1 + 1) / (tf + norm)))
}

// norms caches the length part of BM25 for one field.
type norms struct {
	m   BM25
	avg float64
	tab [1024]float64
}

func newNorms(m BM25, avg float64) *norms {
	n := &norms{m: m, avg: avg}
	for i := range n.tab {
		n.tab[i] = m.norm(float64(i), avg)
	}
	return n
}

func (n *norms) of(l uint32) float64 {
	if int(l) < len(n.tab) {
		return n.tab[l]
	}
	return n.m.norm(float64(l), n.avg)
}
